/** Text that was typed and not saved, and the saved text before it. */
export interface Draft {
  readonly text: string
  readonly before: string
}

/** A draft that goes on: its text is another one now. */
export function typedInto(draft: Draft | null | undefined, text: string, saved: string): Draft {
  return { text, before: draft?.before ?? saved }
}

/** True if the saved text was changed elsewhere after the draft was begun. */
export function isChangedElsewhere(draft: Draft | null | undefined, saved: string): boolean {
  return draft !== null && draft !== undefined && draft.before !== saved
}

/** The note of a field whose saved value was changed elsewhere; null without a draft that would replace it. */
export function elsewhereWords(
  draft: Draft | null | undefined,
  saved: string,
  shown: string = saved,
): string | null {
  return isChangedElsewhere(draft, saved) ? `Changed to ${shown} elsewhere. Saving replaces it.` : null
}
