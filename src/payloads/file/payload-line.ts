import { parseCallId } from '../../call/call-id.ts'

const lineBreak = 0x0a
const openBrace = 0x7b
const closeBrace = 0x7d
/** What every record begins with: `{"id":"<11 characters>","seq":<number>,"timestamp":"…","direction":"…"`. */
const idAt = '{"id":"'.length
const idEnd = idAt + 11
const seqAt = idEnd + '","seq":'.length
const longestHead = 160

/** A line of a segment: where it begins, where its line break is, and whose record it is. */
export interface PayloadLine {
  readonly start: number
  readonly end: number
  readonly callId: number
}

/**
 * Whether the line from `start` to its break at `end` is a whole record. A line that was torn has no break, or is
 * closed by `tornEnd`, so that looking at its ends is enough.
 */
export function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > seqAt && bytes[start] === openBrace && bytes[end - 1] === closeBrace
}

/** Written after a line that was torn: what ends so is no record, wherever it was torn. */
export const tornEnd: Uint8Array = Buffer.from('~\n')
/** Put over the first byte of a line that was torn and continued by another's, which then is no record either. */
export const tornStart: Uint8Array = Buffer.from('~')

/** The whole records of `bytes`, which begin with a line; an end without a line break is left out. */
export function* whereWhole(bytes: Uint8Array): Generator<PayloadLine> {
  let start = 0
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
    if (isWhole(bytes, start, end)) {
      const callId = callIdOf(bytes, start)
      if (callId !== null) yield { start, end, callId }
    }
    start = end + 1
  }
}

/** Of the record that begins at `start`; null where none does. */
export function callIdOf(bytes: Uint8Array, start: number): number | null {
  return parseCallId(latin1(bytes, start + idAt, start + idEnd))
}

/** Of the record that begins at `start`; null where none does. */
export function seqOf(bytes: Uint8Array, start: number): number | null {
  const digits = /^\d{1,16}(?=,)/.exec(latin1(bytes, start + seqAt, start + seqAt + 17))
  return digits === null ? null : Number(digits[0])
}

/** Of the record that begins at `start`. */
export function isIncoming(bytes: Uint8Array, start: number): boolean {
  return latin1(bytes, start, start + longestHead).includes('"direction":"incoming"')
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', start, end)
}
