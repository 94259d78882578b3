import { firstIdAt, formatCallId, startedAtMs } from '../../call/call-id.ts'
import { OpenSegment } from './open-segment.ts'
import { idAt, isIncoming } from './payload-line.ts'
import { listSegments, type Segment } from './payload-segments.ts'
import { type RecentEnd, RecentLines } from './recent-lines.ts'

/** The records of a call, each as the JSON text of a `PayloadRecord`; null if there is none. */
export interface CallPayloads {
  readonly request: Uint8Array | null
  readonly answer: Uint8Array | null
}

/** Most bytes of the answer to a `recent`: see `RecentPayloads`. */
const answerBytesLimit = 32 * 2 ** 20
/** Records may be out of order by this time, because gateways that write to one log differ in clocks and batches. */
const slackMs = 10_000
/** A record may be later than its call's end by this time, after a slow disk or a change of the clock. */
const lateMs = 600_000

/**
 * The answer of `GET /v1/raw-log/recent`, as JSON in a new buffer. The log is read from its files, also while
 * gateways write to it: not for a thread that serves calls. Throws the system's errors; a missing log is empty.
 */
export function recentPayloads(
  filePath: string,
  limit: number,
  bytesLimit: number = answerBytesLimit,
): Uint8Array<ArrayBuffer> {
  const segments = listSegments(filePath)
  const lines = new RecentLines(limit, bytesLimit)
  let end: RecentEnd | null = null
  for (const { path } of segments.toReversed()) {
    using segment = OpenSegment.open(path)
    end = segment === null ? null : lines.take(segment)
    if (end !== null) break
  }
  const count = segments.reduce((sum, { path, records }) => sum + (records ?? countIn(path)), 0)
  return lines.toJson(count, end === 'too_large')
}

/**
 * Both records of a call. Segments are searched from the call's start to some time after `endedAtMs`. The answer
 * to a long call is in a later segment than its request. If the end is unknown, all later segments are searched.
 */
export function payloadsOf(
  filePath: string,
  callId: number,
  endedAtMs: number = Number.POSITIVE_INFINITY,
): CallPayloads {
  const records: { request: Buffer | null; answer: Buffer | null } = { request: null, answer: null }
  const id = Buffer.from(`${formatCallId(callId)}"`)
  const take = (bytes: Buffer, start: number, end: number): boolean => {
    if (bytes.compare(id, 0, id.length, start + idAt, start + idAt + id.length) !== 0) return false
    const record = Buffer.from(bytes.subarray(start, end))
    if (isIncoming(record, 0)) records.request ??= record
    else records.answer ??= record
    return records.request !== null && records.answer !== null
  }
  const fromSeq = firstIdAt(startedAtMs(callId) - slackMs)
  const toSeq = firstIdAt(endedAtMs + lateMs)
  const segments = listSegments(filePath)
  const likely = Math.max(
    0,
    segments.findLastIndex(({ firstSeq }) => firstSeq !== null && firstSeq <= fromSeq),
  )
  const search = ({ path }: Segment): boolean => {
    using segment = OpenSegment.open(path)
    segment?.eachRecord(0, segment.size, take)
    return records.request !== null && records.answer !== null
  }
  const later = segments.slice(likely).filter(({ firstSeq }) => (firstSeq ?? 0) <= toSeq)
  const isUnknown = !later.some(search) && records.request === null && !Number.isFinite(endedAtMs)
  if (isUnknown) segments.slice(0, likely).reverse().some(search)
  return records
}

function countIn(path: string): number {
  using segment = OpenSegment.open(path)
  return segment?.count() ?? 0
}
