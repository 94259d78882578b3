import { statSync } from 'node:fs'
import type { PayloadAbsence } from '../api/call-payloads.ts'
import { parseCallId, startedAtMs } from '../call/call-id.ts'
import { OpenSegment } from '../payloads/file/open-segment.ts'
import { payloadsOf, recentPayloads } from '../payloads/file/payload-reader.ts'
import { listSegments, type Segment } from '../payloads/file/payload-segments.ts'
import type { PayloadQuestion, RecentPayloadsQuestion } from './query-question.ts'

/** Bytes at the beginning of a record, which have its call's id. */
const headBytes = 64
const nullJson = Buffer.from('null')
/** Most bytes of an answer: each megabyte blocks the dashboard for some milliseconds when it arrives. */
const recentBytesLimit = 4 * 1024 * 1024

/**
 * Both records of a call, as `CallPayloads` in JSON. `durationMs` is null for a call without a row, which
 * runs or has just ended; then more segments are searched.
 */
export function payloadAnswer(
  { id, filePath, logging }: PayloadQuestion,
  durationMs: number | null = null,
): Buffer {
  const endedAtMs = durationMs === null ? undefined : startedAtMs(id) + durationMs
  const { request, answer } = payloadsOf(filePath, id, endedAtMs)
  const isLogged = request !== null || answer !== null
  const reason = isLogged ? null : absenceOf(id, listSegments(filePath), logging)
  return Buffer.concat([
    Buffer.from('{"request":'),
    request ?? nullJson,
    Buffer.from(',"answer":'),
    answer ?? nullJson,
    Buffer.from(`,"logging":${JSON.stringify(logging)},"reason":${JSON.stringify(reason)}}`),
  ])
}

/** The newest records, as `RecentPayloads` in JSON. Large records may exceed the size limit; then `truncated` is true. */
export function recentPayloadsAnswer({ filePath, limit }: RecentPayloadsQuestion): Uint8Array {
  return recentPayloads(filePath, limit, recentBytesLimit)
}

function absenceOf(id: number, all: readonly Segment[], logging: boolean | null): PayloadAbsence {
  const segments = all.filter(({ bytes }) => bytes > 0)
  const [oldest] = segments
  const firstId = oldest === undefined ? null : firstCallIn(oldest.path)
  if (firstId === null) return 'logging_off'
  // A single segment means that none was rotated away yet.
  if (id < firstId) return segments.length > 1 ? 'rotated_away' : 'logging_off'
  return logging === true || startedAtMs(id) <= lastWrittenMs(segments) ? 'not_captured' : 'logging_off'
}

function firstCallIn(path: string): number | null {
  using segment = OpenSegment.open(path)
  const head = segment?.read(0, headBytes).toString('latin1') ?? ''
  return parseCallId(/^\{"id":"(\w{11})"/.exec(head)?.[1] ?? '')
}

function lastWrittenMs(segments: readonly Segment[]): number {
  const times = segments.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.max(...times)
}
