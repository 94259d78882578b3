import type { BodyRange, RequestFacts } from '../http/request-peek.ts'

const openBrace = 0x7b
const letterN = 0x6e
const option = '"include_usage":true'

/** A request body with the wish for usage spliced in. */
export interface SplicedBody {
  /** The chunks as they came, but for the one (or the few) in which the piece stands. */
  readonly chunks: readonly Uint8Array[]
  readonly bytes: number
}

/**
 * Adds `stream_options.include_usage` to the bytes of a JSON object that streams and has no such key; nothing
 * else is touched or read. Answers `null` where `stream_options` is something that nobody could add to.
 */
export function spliceUsageOption(
  chunks: readonly Uint8Array[],
  bytes: number,
  facts: Pick<RequestFacts, 'streamOptions'>,
): SplicedBody | null {
  const options = facts.streamOptions
  if (options === null) {
    // Behind the first brace: the object is not empty, it has a `stream`.
    const at = firstTokenOffset(chunks) + 1
    return spliced(chunks, bytes, { start: at, end: at }, `"stream_options":{${option}},`)
  }
  const first = byteAt(chunks, options.start)
  if (first === letterN) return spliced(chunks, bytes, options, `{${option}}`)
  if (first !== openBrace) return null
  const at = options.start + 1
  const piece = isBlank(chunks, at, options.end - 1) ? option : `${option},`
  return spliced(chunks, bytes, { start: at, end: at }, piece)
}

/** Puts the piece where the range is. Only the chunks that the range touches are copied, together. */
function spliced(chunks: readonly Uint8Array[], bytes: number, range: BodyRange, piece: string): SplicedBody {
  const before: Uint8Array[] = []
  const touched: Uint8Array[] = []
  const after: Uint8Array[] = []
  let at = 0
  let touchedFrom = 0
  const lastByte = Math.max(range.start, range.end - 1)
  for (const chunk of chunks) {
    const end = at + chunk.length
    if (end <= range.start) before.push(chunk)
    else if (at > lastByte) after.push(chunk)
    else {
      if (touched.length === 0) touchedFrom = at
      touched.push(chunk)
    }
    at = end
  }
  const whole = touched.length === 1 && touched[0] !== undefined ? touched[0] : Buffer.concat(touched)
  const inserted = Buffer.from(piece)
  const mended = Buffer.concat([
    whole.subarray(0, range.start - touchedFrom),
    inserted,
    whole.subarray(range.end - touchedFrom),
  ])
  return {
    chunks: [...before, mended, ...after],
    bytes: bytes + inserted.length - (range.end - range.start),
  }
}

function firstTokenOffset(chunks: readonly Uint8Array[]): number {
  let offset = 0
  for (const chunk of chunks) {
    const at = chunk.findIndex((byte) => byte > 0x20)
    if (at >= 0) return offset + at
    offset += chunk.length
  }
  return offset
}

function byteAt(chunks: readonly Uint8Array[], offset: number): number {
  let at = offset
  for (const chunk of chunks) {
    if (at < chunk.length) return chunk[at] ?? 0
    at -= chunk.length
  }
  return 0
}

function isBlank(chunks: readonly Uint8Array[], start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (byteAt(chunks, at) > 0x20) return false
  return true
}
