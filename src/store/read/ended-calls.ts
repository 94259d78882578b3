import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { EndedBounds, EndedCall } from '../../call/call-reader.ts'
import { firstFailedOutcome, outcomeCodes } from '../../call/fields/call-fields.ts'
import { unpricedSql } from '../../call/unpriced.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { CallDictionary } from './call-dictionary.ts'

/** Rows of one statement. */
const pageRows = 1000
/** Longest duration (ms) of a call that is found by its start. Longer calls are found by the time of writing. */
const longestMs = 3_600_000

const columns = `seq, id, coalesce(duration_us, 0), model_id, client_id, session_id, upstream_id, outcome_id,
    queue_us, ttft_us, coalesce(total_tokens, coalesce(input_tokens, 0) + coalesce(output_tokens, 0)),
    cost_nano_usd, ${unpricedSql}`
/** Calls by id, because rows of an import or a copy are written long after their ends. */
const byEnd = `SELECT ${columns} FROM calls NOT INDEXED
  WHERE id < ?1 AND id >= ?2 AND (id >> 12) * 1000 + coalesce(duration_us, 0) >= ?3 ORDER BY id DESC LIMIT ${pageRows}`
const byWriting = `SELECT ${columns} FROM calls INDEXED BY calls_by_seq
  WHERE seq < ?1 AND seq > ?2 ORDER BY seq DESC LIMIT ${pageRows}`

type Id = number | null
type Row = readonly [
  ...times: [seq: number, id: number, durationUs: number],
  ...words: [model: Id, client: Id, session: Id, upstream: Id],
  ...figures: [outcome: number, queueUs: Id, ttftUs: Id, tokens: number, costNanoUsd: Id, isUnpriced: number],
]

/** See `CallReader.endedWithin`. Throws `QueryTooSlowError`. */
export function endedWithin(
  statements: RowStatements,
  words: CallDictionary,
  isOver: IsOver,
  { fromMs, afterSeq, most, withinMs }: EndedBounds,
): readonly EndedCall[] {
  const calls = new Map<number, EndedCall>()
  const untilMs = performance.now() + withinMs
  const read = (sql: string, cursorAt: 0 | 1, ...from: readonly number[]): void => {
    for (let past = Number.MAX_SAFE_INTEGER, read = 0; read < most;) {
      if (isOver()) throw new QueryTooSlowError()
      const rows = statements.all<Row>(sql, past, ...from)
      for (const row of rows) calls.set(row[0], endedCall(row, words))
      read += rows.length
      past = rows.at(-1)?.[cursorAt] ?? past
      if (rows.length < pageRows || performance.now() >= untilMs) break
    }
  }
  read(byEnd, 1, firstIdAt(Math.floor(Math.max(0, fromMs - longestMs))), Math.ceil(fromMs * 1000))
  read(byWriting, 0, afterSeq)
  return [...calls.values()].toSorted((a, b) => b.seq - a.seq).slice(0, most)
}

function endedCall(row: Row, words: CallDictionary): EndedCall {
  const [seq, id, durationUs, model, client, session, upstream, outcome, ...figures] = row
  const [queueUs, ttftUs, tokens, costNanoUsd, isUnpriced] = figures
  return {
    seq,
    endedMs: startedAtMs(id) + durationUs / 1000,
    model: words.wordOf('models', model),
    client: words.wordOf('clients', client),
    session: words.wordOf('sessions', session),
    upstream: words.wordOf('upstreams', upstream),
    isOk: outcome === outcomeCodes.ok,
    isFailed: outcome >= firstFailedOutcome,
    queueMs: queueUs === null ? null : queueUs / 1000,
    ttftMs: ttftUs === null ? null : ttftUs / 1000,
    tokens,
    costUsd: costNanoUsd === null ? null : costNanoUsd / 1e9,
    isUnpriced: isUnpriced === 1,
  }
}
