import type { CallJson } from '../call/call-record.ts'
import type { CallReader } from '../call/call-reader.ts'
import type { EndedQuestion } from './query-question.ts'

/** More are not told at a time: a page cannot show them, and a reader that is behind should not fall further. */
const toldAtOnce = 100

/** Calls that ended since the last question, newest of them last. */
export interface EndedAnswer {
  readonly calls: readonly CallJson[]
  /** How many ended besides, before these. */
  readonly skipped: number
  /** Passed as `afterSeq` the next time. */
  readonly last_seq: number
}

/** What ended since; without a place to begin at, only that place. */
export function endedAnswer(reader: CallReader, { afterSeq }: EndedQuestion): EndedAnswer {
  const lastSeq = reader.lastSeq()
  // A lower number than before is a new database: all that is in it ended just now.
  if (afterSeq === null) return { calls: [], skipped: 0, last_seq: lastSeq }
  const since = afterSeq > lastSeq ? 0 : afterSeq
  const from = Math.max(since, lastSeq - toldAtOnce)
  const { calls, lastSeq: reached } = reader.endedSince(from, {}, toldAtOnce)
  return { calls, skipped: from - since, last_seq: Math.max(reached, lastSeq) }
}
