/** One thing that a scripted upstream does while it answers a request. */
export type ReplyStep =
  /** These bytes in one write, whatever they are, and no more until the kernel has taken them. */
  | { readonly do: 'write'; readonly bytes: Uint8Array }
  | { readonly do: 'wait'; readonly ms: number }
  /** Waits for the test. */
  | { readonly do: 'until'; readonly signal: Promise<unknown> }
  /** Ends the connection in order (FIN), wherever the message stands. */
  | { readonly do: 'cut' }
  /** Tears the connection down (RST). */
  | { readonly do: 'reset' }
  /** Nothing more, and the connection stays open until the client leaves. */
  | { readonly do: 'stall' }

/** What one request gets. A generator may decide as it goes, and may go on for ever. */
export interface Reply {
  /** When the answer begins: once the request's body is read (the default), or already after its head. */
  readonly after?: 'head' | 'body'
  readonly steps: Iterable<ReplyStep> | AsyncIterable<ReplyStep>
}

/** A reply, or only its steps. */
export type ReplyScript = Reply | readonly ReplyStep[]

/** Exact bytes in one write; text is sent as UTF-8. */
export function write(bytes: string | Uint8Array): ReplyStep {
  return { do: 'write', bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes }
}

/** One write for each piece. */
export function writeEach(pieces: Iterable<string | Uint8Array>): ReplyStep[] {
  return Array.from(pieces, write)
}

export function wait(ms: number): ReplyStep {
  return { do: 'wait', ms }
}

export function until(signal: Promise<unknown>): ReplyStep {
  return { do: 'until', signal }
}

export function cut(): ReplyStep {
  return { do: 'cut' }
}

export function reset(): ReplyStep {
  return { do: 'reset' }
}

export function stall(): ReplyStep {
  return { do: 'stall' }
}
