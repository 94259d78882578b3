export const lineBreak = 0x0a
const openBrace = 0x7b
const closeBrace = 0x7d
/** Every record begins with `{"id":"<11 characters>","seq":<number>,"timestamp":"…","direction":"…"`. */
export const idAt: number = '{"id":"'.length
const seqAt = idAt + 11 + '","seq":'.length
/** Most bytes of a record's beginning, up to its direction. */
const longestHead = 160

/**
 * True if the line from `start` to its break at `end` is a complete record. Both ends are enough to decide,
 * because a torn line has no break, or ends with `tornEnd`.
 */
export function isCompleteLine(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > seqAt && bytes[start] === openBrace && bytes[end - 1] === closeBrace
}

/** Written after a torn line. A line with this end is no record. */
export const tornEnd: Uint8Array = Buffer.from('~\n')

/** The seq of the record at `start`; null if no record begins there. */
export function seqOf(bytes: Uint8Array, start: number): number | null {
  const digits = /^\d{1,16}(?=,)/.exec(latin1(bytes, start + seqAt, start + seqAt + 17))
  return digits === null ? null : Number(digits[0])
}

/** The seqs of the records that begin after line breaks. */
export function seqsIn(bytes: Buffer): number[] {
  const seqs: number[] = []
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, end + 1)) {
    const seq = seqOf(bytes, end + 1)
    if (seq !== null) seqs.push(seq)
  }
  return seqs
}

/** True if the record at `start` is of a request. */
export function isIncoming(bytes: Uint8Array, start: number): boolean {
  return latin1(bytes, start, start + longestHead).includes('"direction":"incoming"')
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', start, end)
}
