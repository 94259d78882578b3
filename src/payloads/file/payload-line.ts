export const lineBreak = 0x0a
const openBrace = 0x7b
const closeBrace = 0x7d
/** Every record begins with `{"id":"<11 characters>","seq":<number>,"timestamp":"…","direction":"…"`. */
export const idAt: number = '{"id":"'.length
const seqAt = idAt + 11 + '","seq":'.length
const longestHead = 160

/**
 * True if the line from `start` to its break at `end` is a whole record. A line that was torn has no break, or is
 * closed by `tornEnd`, so that looking at its ends is enough.
 */
export function isCompleteLine(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > seqAt && bytes[start] === openBrace && bytes[end - 1] === closeBrace
}

/** Written after a line that was torn: what ends so is no record, wherever it was torn. */
export const tornEnd: Uint8Array = Buffer.from('~\n')
/** Put over the first byte of a line that was torn and continued by another's, which then is no record either. */
export const tornStart: Uint8Array = Buffer.from('~')

/** The seq of the record that begins at `start`; null if none does. */
export function seqOf(bytes: Uint8Array, start: number): number | null {
  const digits = /^\d{1,16}(?=,)/.exec(latin1(bytes, start + seqAt, start + seqAt + 17))
  return digits === null ? null : Number(digits[0])
}

/** The seqs of the records that begin behind line breaks. */
export function seqsIn(bytes: Buffer): number[] {
  const seqs: number[] = []
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, end + 1)) {
    const seq = seqOf(bytes, end + 1)
    if (seq !== null) seqs.push(seq)
  }
  return seqs
}

/** True if the record that begins at `start` is of a request. */
export function isIncoming(bytes: Uint8Array, start: number): boolean {
  return latin1(bytes, start, start + longestHead).includes('"direction":"incoming"')
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', start, end)
}
