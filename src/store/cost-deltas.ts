import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { startedAtMs } from '../call/call-id.ts'
import { usageSourceCodes } from './call-codes.ts'
import { entryOf, type FigureRow, valueIn } from './call-figures.ts'
import { anyId, type Grouping, groupings, halvesGroupingId } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { coarseLevels, halfLevel, quarterMs } from './rollup-spans.ts'

/** What changes in the sums of the cells of one key and quarter hour. */
interface Delta {
  readonly grouping: Grouping
  readonly callType: number
  readonly entry: number
  readonly outcome: number
  readonly quarter: number
  nanoUsd: number
  priced: number
  unpriced: number
}

/** Another cost of a call than its row says, in nano-dollars; null is none. */
export interface CostChange {
  readonly call: FigureRow
  readonly newNanoUsd: number | null
}

const setSums =
  'SET cost_nano_usd = cost_nano_usd + ?, priced_calls = priced_calls + ?, unpriced_calls = unpriced_calls + ?'

/**
 * Carries other costs of calls that the rollups hold already over into their sums. Within the transaction that changes
 * the calls. A cell that is there holds every call of its time and key that was added up; one that is not there will be
 * made of others, which have the change.
 */
export class CostDeltas {
  readonly #state: StatementSync
  readonly #quarter: StatementSync
  readonly #span: StatementSync
  readonly #keys: RollupKeys
  /** Keys are never taken away. */
  readonly #known = new Map<string, number>()

  constructor(database: DatabaseSync) {
    this.#state = database.prepare('SELECT watermark_seq, held_from FROM rollup_state')
    this.#quarter = database.prepare(`UPDATE rollup_quarters ${setSums} WHERE slot = ? AND key_id = ?`)
    this.#span = database.prepare(
      `UPDATE rollup_spans ${setSums} WHERE level = ? AND key_id = ? AND slot = ?`,
    )
    this.#keys = new RollupKeys(database)
  }

  /** Changes the sums as the costs of these calls change. */
  apply(changes: readonly CostChange[]): void {
    const state = this.#state.get()
    const watermark = Number(state?.['watermark_seq'])
    // What is not added up yet will be, with its new cost.
    const added = changes.filter(({ call }) => (valueIn(call, 'seq') ?? 0) <= watermark)
    for (const delta of deltasOf(added)) this.#apply(delta, Number(state?.['held_from']))
  }

  /** Null where no call was added up under it, which cannot be of a call that was. */
  #keyOf(grouping: Grouping, callType: number, entry: number, outcome: number): number | null {
    const name = `${grouping.id} ${callType} ${entry} ${outcome}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const found = this.#keys.known(grouping, callType, entry, outcome)
    if (found !== null) this.#known.set(name, found)
    return found
  }

  #apply(delta: Delta, heldFrom: number): void {
    const { grouping, callType, entry, outcome, quarter, nanoUsd, priced, unpriced } = delta
    const isHourly = grouping.second !== undefined
    // Before that quarter an older program added the calls up, which held nothing by two entries.
    if (isHourly && quarter < heldFrom) return
    const key = this.#keyOf(grouping, callType, entry, outcome)
    if (key === null) return
    const sums = [nanoUsd, priced, unpriced]
    if (!isHourly) this.#quarter.run(...sums, quarter, key)
    const levels = grouping.id === halvesGroupingId ? [...coarseLevels, halfLevel] : coarseLevels
    for (const { level, quarters } of levels) {
      this.#span.run(...sums, level, key, Math.floor(quarter / quarters))
    }
  }
}

function deltasOf(changes: readonly CostChange[]): Iterable<Delta> {
  const deltas = new Map<string, Delta>()
  for (const { call, newNanoUsd } of changes) {
    const oldNanoUsd = valueIn(call, 'cost_nano_usd')
    const nanoUsd = (newNanoUsd ?? 0) - (oldNanoUsd ?? 0)
    const priced = Number(newNanoUsd !== null) - Number(oldNanoUsd !== null)
    if (nanoUsd === 0 && priced === 0) continue
    // A call without usage counts as priced or as nothing.
    const unpriced = valueIn(call, 'usage_source_id') === usageSourceCodes.none ? 0 : -priced
    const quarter = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
    for (const grouping of groupings) {
      const entry = entryOf(call, grouping)
      if (entry === undefined) continue
      const callType = grouping.byType ? (valueIn(call, 'call_type_id') ?? 0) : anyId
      const outcome = grouping.byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : anyId
      const name = `${grouping.id} ${callType} ${entry} ${outcome} ${quarter}`
      const delta = deltas.get(name) ?? {
        grouping,
        callType,
        entry,
        outcome,
        quarter,
        nanoUsd: 0,
        priced: 0,
        unpriced: 0,
      }
      deltas.set(name, delta)
      delta.nanoUsd += nanoUsd
      delta.priced += priced
      delta.unpriced += unpriced
    }
  }
  return deltas.values()
}
