import { displayWidth } from './display-width.ts'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A {@link printable} text on as many lines as it takes, broken after spaces where there are some. */
export function wrapLine(text: string, width: number): readonly string[] {
  if (displayWidth(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  let lineWidth = 0
  for (const { segment } of graphemes.segment(text)) {
    const segmentWidth = displayWidth(segment)
    // A space behind a full line is the break itself.
    if (segment === ' ' && lineWidth === width) {
      lines.push(line.trimEnd())
      line = ''
      lineWidth = 0
      continue
    }
    // What is left of a line that was broken after a space may be too long still.
    while (lineWidth + segmentWidth > width && line !== '') {
      const end = breakOf(line)
      lines.push(line.slice(0, end).trimEnd())
      line = line.slice(end)
      lineWidth = displayWidth(line)
    }
    line += segment
    lineWidth += segmentWidth
  }
  return [...lines, line]
}

/** After the last space that has something before and behind it; else at the end. */
function breakOf(line: string): number {
  const afterSpace = line.lastIndexOf(' ') + 1
  return afterSpace < line.length && line.slice(0, afterSpace).trim() !== '' ? afterSpace : line.length
}
