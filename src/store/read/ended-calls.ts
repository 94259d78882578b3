import { startedAtMs } from '../../call/call-id.ts'
import type { EndedBounds, EndedCall } from '../../call/call-reader.ts'
import { firstFailedOutcome, outcomeCodes, usageSourceCodes } from '../../call/call-fields.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { CallWords } from './call-words.ts'

/** Calls are written as they end: from the last one back, a page without one that is asked for ends the search. */
const pageRows = 1000

const pageSql = `SELECT seq, id, coalesce(duration_us, 0), model_id, client_id, session_id, upstream_id, outcome_id,
    queue_us, ttft_us, coalesce(total_tokens, coalesce(input_tokens, 0) + coalesce(output_tokens, 0)),
    cost_nano_usd, usage_source_id
  FROM calls INDEXED BY calls_by_seq WHERE seq < ? ORDER BY seq DESC LIMIT ${pageRows}`

type Id = number | null
type Row = readonly [
  ...times: [seq: number, id: number, durationUs: number],
  ...words: [model: Id, client: Id, session: Id, upstream: Id],
  ...figures: [
    outcome: number,
    queueUs: Id,
    ttftUs: Id,
    tokens: number,
    costNanoUsd: Id,
    usageSource: number,
  ],
]

/** See `CallReader.endedWithin`. Throws `QueryTooSlowError`. */
export function endedWithin(
  statements: RowStatements,
  words: CallWords,
  isOver: IsOver,
  { fromMs, afterSeq, most, withinMs }: EndedBounds,
): readonly EndedCall[] {
  const found: EndedCall[] = []
  const untilMs = performance.now() + withinMs
  for (let past = Number.MAX_SAFE_INTEGER; found.length < most;) {
    if (isOver()) throw new QueryTooSlowError()
    const rows = statements.all<Row>(pageSql, past)
    const before = found.length
    for (const [seq, id, durationUs, model, client, session, upstream, outcome, ...figures] of rows) {
      past = seq
      const endedMs = startedAtMs(id) + durationUs / 1000
      if (endedMs < fromMs && seq <= afterSeq) continue
      const [queueUs, ttftUs, tokens, costNanoUsd, usageSource] = figures
      found.push({
        seq,
        endedMs,
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
        isUnpriced: costNanoUsd === null && usageSource !== usageSourceCodes.none,
      })
    }
    if (rows.length < pageRows || found.length === before || performance.now() >= untilMs) break
  }
  return found.slice(0, most)
}
