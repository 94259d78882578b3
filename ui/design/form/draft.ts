/** Text that was typed and not saved, and the saved text when typing began. */
export interface Draft {
  readonly text: string
  readonly before: string
}

/** Returns the draft with another text. */
export function typedInto(draft: Draft | null | undefined, text: string, saved: string): Draft {
  return { text, before: draft?.before ?? saved }
}

/** True if the saved text was changed elsewhere after typing began. */
export function isChangedElsewhere(draft: Draft | null | undefined, saved: string): boolean {
  return draft !== null && draft !== undefined && draft.before !== saved
}

/** Returns a note if the saved value was changed elsewhere, because saving would replace it. Null otherwise. */
export function elsewhereWords(
  draft: Draft | null | undefined,
  saved: string,
  shown: string = saved,
): string | null {
  return isChangedElsewhere(draft, saved) ? `Changed to ${shown} elsewhere. Saving replaces it.` : null
}
