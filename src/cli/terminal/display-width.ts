import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'

/** Columns of a terminal that a {@link printable} text takes. */
export const displayWidth: (text: string) => number = stringWidth

/** Fills with spaces up to a width; a text that is wider stays as it is. */
export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return align === 'left' ? text + spaces : spaces + text
}

/** Cuts the end off, or the middle out of what differs at both ends, if need be, and says so with an ellipsis. */
export function shorten(text: string, width: number, at: 'middle' | 'end' = 'end'): string {
  return width < 1 ? '' : cliTruncate(text, width, { position: at })
}
