import { noBytes } from '../../lib/byte-gather.ts'
import { uncoded } from '../../lib/http/header-list.ts'
import { isObject } from '../../lib/message-shape.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import { type TransportRequest, isHeld } from '../upstream/transport.ts'

const option = '"include_usage":true'

/** The request with the field that asks for usage; null if the field cannot be added. */
export function requestForUsage(request: TransportRequest, facts: RequestFacts): TransportRequest | null {
  const { body, bodyBytes } = request
  if (!isHeld(body) || bodyBytes === null) return null
  const spliced = spliceUsageOption(body, bodyBytes, facts)
  // A compressed stream cannot be filtered.
  return spliced === null ? null : { ...request, ...spliced, headers: uncoded(request.headers) }
}

/** A request body with the field that asks for usage spliced in. */
interface SplicedBody {
  /** The chunks of the body. Only those at the splice differ from the client's. */
  readonly body: readonly Uint8Array[]
  readonly bodyBytes: number
}

/**
 * Adds `stream_options.include_usage` to the bytes of a JSON object that asks for a stream and has no such
 * key. Other bytes are neither changed nor read. Returns `null` if `stream_options` is no object.
 */
export function spliceUsageOption(
  chunks: readonly Uint8Array[],
  bytes: number,
  { streamOptions: options, firstAt }: Pick<RequestFacts, 'streamOptions' | 'firstAt'>,
): SplicedBody | null {
  const spliced = (start: number, end: number, piece: string): SplicedBody => {
    const before = slice(chunks, 0, start)
    const after = slice(chunks, end, bytes)
    // The three pieces are joined, so that the number of writes stays the same.
    const mended = Buffer.concat([before.pop() ?? noBytes, Buffer.from(piece), after.shift() ?? noBytes])
    return { body: [...before, mended, ...after], bodyBytes: bytes + piece.length - (end - start) }
  }
  // Inserted after the first brace. The object has a `stream`, so a comma follows.
  if (options === null) return spliced(firstAt + 1, firstAt + 1, `"stream_options":{${option}},`)
  if (options.value === null) return spliced(options.start, options.end, `{${option}}`)
  if (!isObject(options.value)) return null
  const isEmpty = Object.keys(options.value).length === 0
  return spliced(options.start + 1, options.start + 1, isEmpty ? option : `${option},`)
}

/** The bytes of a body from `start` to before `end`, as views of its chunks. */
function slice(chunks: readonly Uint8Array[], start: number, end: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const chunk of chunks) {
    const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
    if (piece.length > 0) pieces.push(piece)
    at += chunk.length
  }
  return pieces
}
