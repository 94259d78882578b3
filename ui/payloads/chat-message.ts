/** A piece of what somebody said, in whichever form it went over the wire. All of it is text, never markup. */
export type MessagePart =
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  /** An image, a sound or a file, told and not shown: `Image (png), 34 kB`. */
  | { readonly kind: 'media'; readonly text: string }
  /** The model wants a tool to be called. `text`: its arguments, as they were written. */
  | { readonly kind: 'call'; readonly name: string; readonly id: string | null; readonly text: string }
  /** What a tool has answered. */
  | { readonly kind: 'result'; readonly id: string | null; readonly isError: boolean; readonly text: string }
  /** Something that this page has no words for: its JSON. */
  | { readonly kind: 'json'; readonly text: string }

/** What one side said in a conversation, or one thing that was asked for. */
export interface ChatMessage {
  /** `System`, `User`, `Assistant`, `Tool`, `Document 3`. */
  readonly speaker: string
  /** Beside the speaker, in a quieter voice: a name, why it ended. */
  readonly note: string | null
  readonly parts: readonly MessagePart[]
}

/** A setting of the request that decides what the answer is like: `temperature`, `0.2`. */
export type ChatSetting = readonly [name: string, value: string]
