import { startedAtMs } from '../../call/call-id.ts'
import { outcomeCodes } from '../../call/fields/call-fields.ts'
import type { SlotUses, SlotUsesBounds } from '../../call/call-reader.ts'
import type { FailureCode } from '../../call/failure.ts'
import type { IsOver } from '../../call/no-answer.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import { readNewestFirst } from './id-slices.ts'

const turnedAway: readonly FailureCode[] = ['queue_full', 'queue_timeout']

/** Only POSTs take a slot. A call without an upstream in its row has used the default upstream's slots. */
const usesSql = `SELECT id, coalesce(receive_us, 0), queue_us, duration_us, attempts FROM calls NOT INDEXED
  WHERE id >= ? AND id < ? AND queue_us IS NOT NULL AND duration_us IS NOT NULL
  AND method_id = (SELECT id FROM labels WHERE text = 'POST')
  AND coalesce((SELECT text FROM upstreams WHERE id = upstream_name_id), 'default') = ?
  AND (attempts > 0 OR outcome_id = ${outcomeCodes.client_disconnected}
    OR failure_code_id IN (SELECT id FROM labels WHERE text IN ('${turnedAway.join("','")}')))`

type UseRow = readonly [id: number, receiveUs: number, queueUs: number, durationUs: number, attempts: number]

/** See `CallReader.slotUses`. Throws `QueryTooSlowError`. */
export function slotUses(
  statements: RowStatements,
  isOver: IsOver,
  { upstreamName, most, ...bounds }: SlotUsesBounds,
): SlotUses {
  const rows: UseRow[] = []
  const fromMs = readNewestFirst(bounds, isOver, (...ids) => {
    for (const row of statements.all<UseRow>(usesSql, ...ids, upstreamName)) rows.push(row)
    return rows.length >= most
  })
  const [askedMs, waitMs, heldMs] = [0, 1, 2].map(() => new Float64Array(rows.length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  let at = 0
  for (const [id, receiveUs, queueUs, durationUs, attempts] of rows) {
    askedMs[at] = startedAtMs(id) + receiveUs / 1000
    waitMs[at] = queueUs / 1000
    heldMs[at++] = attempts === 0 ? -1 : Math.max(0, durationUs - receiveUs - queueUs) / 1000
  }
  return { fromMs, askedMs, waitMs, heldMs }
}
