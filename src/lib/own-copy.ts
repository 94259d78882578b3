/** A part of a text keeps all of that text in memory. This copy keeps only itself: use it for text that outlives its call. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
