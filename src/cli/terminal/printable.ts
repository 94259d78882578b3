import { unprintable } from '../../lib/unprintable.ts'

const printableAscii = /^[\x20-\x7e]*$/

/** The text on one line, without control sequences that a terminal would obey. */
export function printable(text: string): string {
  if (printableAscii.test(text)) return text
  const oneLine = text.toWellFormed().replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
  return oneLine.replace(unprintable, '\ufffd')
}
