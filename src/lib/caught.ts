/** The words of whatever was thrown. */
export function messageOf(caught: unknown): string {
  return caught instanceof Error ? caught.message : String(caught)
}

/** The code of a system's error, such as `ENOENT`; null for what has none. */
export function codeOf(caught: unknown): unknown {
  return caught instanceof Error && 'code' in caught ? caught.code : null
}
