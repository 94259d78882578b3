import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'

/** Columns of a terminal that a {@link printable} text takes. */
export const displayWidth: (text: string) => number = stringWidth

/** Fills a text with spaces up to a width. A wider text stays unchanged. */
export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return align === 'left' ? text + spaces : spaces + text
}

/** Shortens a wider text with an ellipsis, at its end or in its middle. */
export function shorten(text: string, width: number, at: 'middle' | 'end' = 'end'): string {
  return width < 1 ? '' : cliTruncate(text, width, { position: at })
}
