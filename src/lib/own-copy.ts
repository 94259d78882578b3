/** A copy of a text. A substring keeps the whole text in memory, so copy text that outlives its call. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
