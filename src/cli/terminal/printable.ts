const printableAscii = /^[\x20-\x7e]*$/

/** Characters that a terminal would act upon, or that reorder or hide text. */
const unprintable = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** The text on one line, without control sequences that a terminal would obey. */
export function printable(text: string): string {
  if (printableAscii.test(text)) return text
  const oneLine = text.toWellFormed().replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
  return oneLine.replace(unprintable, '\ufffd')
}
