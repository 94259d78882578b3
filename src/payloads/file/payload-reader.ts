import { startedAtMs } from '../../call/call-id.ts'
import { OpenSegment } from './open-segment.ts'
import { isIncoming } from './payload-line.ts'
import { listSegments, type Segment, totalBytes } from './payload-segments.ts'
import { type RecentEnd, RecentLines } from './recent-lines.ts'

/** The records of a call, each as the JSON text of a `PayloadRecord`; null where there is none. */
export interface CallPayloads {
  readonly request: Uint8Array | null
  readonly answer: Uint8Array | null
}

/** Of a `recent`: as `RecentPayloads` says. */
const answerBytesLimit = 32 * 2 ** 20
/** Two gateways that write to one log may have clocks' readings, and batches, a little apart. */
const slackMs = 10_000

/**
 * Reads the raw log from its files, whether or not gateways write to it meanwhile: it changes nothing, holds
 * nothing open, and needs no gateway. Synchronous: not for a thread that has calls to serve. Throws the system's
 * errors; a log that does not exist is empty.
 */
export class PayloadReader {
  readonly #filePath: string
  /** Of full segments, which do not change: their counts, for as long as they have the same size. */
  #counts = new Map<string, { readonly bytes: number; readonly count: number }>()

  /** `filePath` is that of the active file. */
  constructor(filePath: string) {
    this.#filePath = filePath
  }

  /** Of all segments. */
  fileBytes(): number {
    return totalBytes(listSegments(this.#filePath))
  }

  /** The answer of `GET /v1/raw-log/recent`, as JSON in a buffer of its own. */
  recent(limit: number, bytesLimit: number = answerBytesLimit): Uint8Array<ArrayBuffer> {
    const segments = listSegments(this.#filePath)
    const lines = new RecentLines(limit, bytesLimit)
    let end: RecentEnd | null = null
    for (const { path } of segments.toReversed()) {
      using segment = OpenSegment.open(path)
      end = segment === null ? null : lines.take(segment)
      if (end !== null) break
    }
    return lines.toJson(this.#countOf(segments), end === 'too_large')
  }

  /** Both records of a call. An answer of a long call lies in a later segment than its request. */
  payloadsOf(callId: number): CallPayloads {
    const segments = listSegments(this.#filePath)
    const likely = firstLikely(segments, startedAtMs(callId) - slackMs)
    let request: Uint8Array | null = null
    let answer: Uint8Array | null = null
    // Records that were held back may lie in a segment whose name says less than it could: then the earlier ones, too.
    for (const { path } of [...segments.slice(likely), ...segments.slice(0, likely).reverse()]) {
      using segment = OpenSegment.open(path)
      for (const record of segment?.recordsOf(callId) ?? []) {
        if (isIncoming(record, 0)) request ??= record
        else answer ??= record
      }
      if (request !== null && answer !== null) break
    }
    return { request, answer }
  }

  #countOf(segments: readonly Segment[]): number {
    const counts = new Map<string, { bytes: number; count: number }>()
    let sum = 0
    for (const { path, bytes, firstSeq } of segments) {
      const known = this.#counts.get(path)
      using segment = known?.bytes === bytes ? null : OpenSegment.open(path)
      const count = segment === null ? (known?.count ?? 0) : segment.content().count
      if (firstSeq !== null) counts.set(path, { bytes, count })
      sum += count
    }
    this.#counts = counts
    return sum
  }
}

/** The last segment that began before that instant holds the first record of it. */
function firstLikely(segments: readonly Segment[], fromMs: number): number {
  const at = segments.findLastIndex(({ firstSeq }) => firstSeq !== null && startedAtMs(firstSeq) <= fromMs)
  return Math.max(0, at)
}
