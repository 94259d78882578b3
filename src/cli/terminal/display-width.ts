import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

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

/** A {@link printable} text on as many lines as it takes, broken after spaces if there are some. */
export function wrapLine(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = text
  while (displayWidth(rest) > width) {
    const fitting = fittingPart(rest, width)
    // A space behind a full line is the break itself.
    const isWhole = rest[fitting.length] === ' '
    const end = isWhole ? fitting.length : breakOf(fitting)
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(isWhole ? end + 1 : end)
  }
  return [...lines, rest]
}

/** The beginning that fits; at least one sign. */
function fittingPart(text: string, width: number): string {
  let end = 0
  let taken = 0
  for (const { segment, index } of graphemes.segment(text)) {
    taken += displayWidth(segment)
    if (taken > width && index > 0) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** After the last space that has something before and behind it; else at the end. */
function breakOf(line: string): number {
  const afterSpace = line.lastIndexOf(' ') + 1
  return afterSpace < line.length && line.slice(0, afterSpace).trim() !== '' ? afterSpace : line.length
}
