/**
 * How many columns of a terminal a text takes. Terminals disagree on the rarest scripts; this gives what
 * Unicode's East Asian Width (UAX #11) and emoji presentation (UTS #51) ask for.
 */
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

const printableAscii = /^[\x20-\x7e]*$/
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const emoji =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|[\d#*]\uFE0F?\u20E3|\p{Regional_Indicator}{2})/u
/** Scripts and symbols that are Wide or Fullwidth as whole blocks. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u

/** What a terminal would act upon, or that would reorder or hide the text around it. */
const unprintable = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** The text on one line and without anything that a terminal would obey. */
export function printable(text: string): string {
  if (printableAscii.test(text)) return text
  const oneLine = text.toWellFormed().replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
  return oneLine.replace(unprintable, '\ufffd')
}

/** Columns that a {@link printable} text takes. */
export function displayWidth(text: string): number {
  if (printableAscii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

/** Fills with spaces up to a width; a text that is wider stays as it is. */
export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return align === 'left' ? text + spaces : spaces + text
}

/** Cuts the end off, where need be, and says so with an ellipsis. */
export function shortenEnd(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  return width < 1 ? '' : `${head([...segments(text)], width - 1)}…`
}

/** Cuts the middle out, where need be: both ends of a model's name tell it from others. */
export function shortenMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width < 3) return shortenEnd(text, width)
  const parts = [...segments(text)]
  const start = head(parts, Math.ceil((width - 1) / 2))
  const end = head(parts.toReversed(), width - 1 - displayWidth(start), true)
  return `${start}…${end}`
}

function* segments(text: string): Generator<string> {
  for (const { segment } of graphemes.segment(text)) yield segment
}

/** As many of the parts as fit. */
function head(parts: readonly string[], width: number, reversed = false): string {
  let rest = width
  let text = ''
  for (const part of parts) {
    rest -= graphemeWidth(part)
    if (rest < 0) break
    text = reversed ? part + text : text + part
  }
  return text
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  return wide.test(grapheme) || emoji.test(grapheme) ? 2 : 1
}
