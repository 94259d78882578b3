import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { startedAtMs } from '../../call/call-id.ts'
import { usageSourceCodes } from '../../call/call-fields.ts'
import { entryOf, type FigureRow, valueIn } from './call-figures.ts'
import { anyId, type Grouping, groupings, halvesGroupingId } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { coarseLevels, halfLevel, quarterMs } from './rollup-spans.ts'

/** By how much sums change, in the order of {@link setSums}. */
type Sums = readonly [nanoUsd: number, priced: number, unpriced: number, calls: number, errors: number]

/** What changes in the sums of the cells of one key and quarter hour. */
interface Delta {
  readonly grouping: Grouping
  readonly callType: number
  readonly entry: number
  readonly outcome: number
  readonly quarter: number
  sums: Sums
}

/** Another cost of a call than its row says, in nano-dollars; null is none. */
export interface CostChange {
  readonly call: FigureRow
  readonly newNanoUsd: number | null
}

const setSums =
  'SET cost_nano_usd = cost_nano_usd + ?, priced_calls = priced_calls + ?, unpriced_calls = unpriced_calls + ?, calls = calls + ?, errors = errors + ?'

/**
 * Carries other costs of calls that the rollups hold already over into their sums, and takes calls out of them. Within the transaction that changes
 * the calls. A cell that is there holds every call of its time and key that was added up; one that is not there will be
 * made of others, which have the change.
 */
export class RollupDeltas {
  readonly #state: StatementSync
  readonly #quarter: StatementSync
  readonly #span: StatementSync
  readonly #emptyQuarter: StatementSync
  readonly #emptySpan: StatementSync
  readonly #keys: RollupKeys
  /** Keys are never taken away. */
  readonly #known = new Map<string, number>()

  constructor(database: DatabaseSync) {
    this.#state = database.prepare('SELECT watermark_seq, held_from FROM rollup_state')
    const [quarter, span] = ['slot = ? AND key_id = ?', 'level = ? AND key_id = ? AND slot = ?']
    this.#quarter = database.prepare(`UPDATE rollup_quarters ${setSums} WHERE ${quarter}`)
    this.#span = database.prepare(`UPDATE rollup_spans ${setSums} WHERE ${span}`)
    this.#emptyQuarter = database.prepare(`DELETE FROM rollup_quarters WHERE ${quarter} AND calls = 0`)
    this.#emptySpan = database.prepare(`DELETE FROM rollup_spans WHERE ${span} AND calls = 0`)
    this.#keys = new RollupKeys(database)
  }

  /** Changes the sums as the costs of these calls change. */
  changeCosts(changes: readonly CostChange[]): void {
    this.#change(changes, costSums)
  }

  /** Takes a call out of which nothing is known but that it began; its row goes in the same transaction. */
  takeOut(call: FigureRow): void {
    this.#change([{ call }], () => [0, 0, 0, -1, -1])
  }

  #change<Change extends { readonly call: FigureRow }>(
    changes: readonly Change[],
    sumsOf: (change: Change) => Sums,
  ): void {
    const state = this.#state.get()
    const watermark = Number(state?.['watermark_seq'])
    // What is not added up yet will be, as its row is by then.
    const added = changes.filter(({ call }) => (valueIn(call, 'seq') ?? 0) <= watermark)
    for (const delta of deltasOf(added, sumsOf)) this.#apply(delta, Number(state?.['held_from']))
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
    const { grouping, callType, entry, outcome, quarter, sums } = delta
    const isHourly = grouping.second !== undefined
    // Before that quarter an older program added the calls up, which held nothing by two entries.
    if (isHourly && quarter < heldFrom) return
    const key = this.#keyOf(grouping, callType, entry, outcome)
    if (key === null) return
    const isLess = sums[3] < 0
    if (!isHourly) this.#quarter.run(...sums, quarter, key)
    if (!isHourly && isLess) this.#emptyQuarter.run(quarter, key)
    const levels = grouping.id === halvesGroupingId ? [...coarseLevels, halfLevel] : coarseLevels
    for (const { level, quarters } of levels) {
      const span = [level, key, Math.floor(quarter / quarters)]
      this.#span.run(...sums, ...span)
      if (isLess) this.#emptySpan.run(...span)
    }
  }
}

function costSums({ call, newNanoUsd }: CostChange): Sums {
  const oldNanoUsd = valueIn(call, 'cost_nano_usd')
  const nanoUsd = (newNanoUsd ?? 0) - (oldNanoUsd ?? 0)
  const priced = Number(newNanoUsd !== null) - Number(oldNanoUsd !== null)
  // A call without usage counts as priced or as nothing.
  const unpriced = valueIn(call, 'usage_source_id') === usageSourceCodes.none ? 0 : -priced
  return [nanoUsd, priced, unpriced, 0, 0]
}

function deltasOf<Change extends { readonly call: FigureRow }>(
  changes: readonly Change[],
  sumsOf: (change: Change) => Sums,
): Iterable<Delta> {
  const deltas = new Map<string, Delta>()
  for (const change of changes) {
    const { call } = change
    const sums = sumsOf(change)
    if (sums.every((sum) => sum === 0)) continue
    const quarter = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
    for (const grouping of groupings) {
      const entry = entryOf(call, grouping)
      if (entry === undefined) continue
      const callType = grouping.byType ? (valueIn(call, 'call_type_id') ?? 0) : anyId
      const outcome = grouping.byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : anyId
      const name = `${grouping.id} ${callType} ${entry} ${outcome} ${quarter}`
      const known = deltas.get(name)
      if (known === undefined) deltas.set(name, { grouping, callType, entry, outcome, quarter, sums })
      else known.sums = added(known.sums, sums)
    }
  }
  return deltas.values()
}

function added(one: Sums, other: Sums): Sums {
  return [one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3], one[4] + other[4]]
}
