import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { IdFilter } from './call-condition.ts'
import { type Dimension, type Grouping, groupingFor, otherEntryId } from '../rollup/rollup-groupings.ts'
import { quartersOf } from '../rollup/rollup-spans.ts'
import { type RollupState, rollupState } from '../rollup/rollup-state.ts'

/** Looked for one within the other. */
const [dayLevel, hourLevel] = [3, 1] as const
/** With more keys than these to look for, they are common, and looking at every quarter is no slower. */
const mostKeys = 200

/** Finds the quarter hours that can hold calls of a filter, so that rare ones are not looked for in all others. */
export class CallQuarters {
  readonly #state: () => RollupState
  readonly #keys: StatementSync
  readonly #slots: StatementSync
  readonly #quarters: StatementSync

  constructor(database: DatabaseSync) {
    this.#state = rollupState(database)
    this.#keys = database.prepare(
      'SELECT id, call_type_id, entry_id, outcome_id FROM rollup_keys WHERE grouping_id = ?',
    )
    this.#slots = database.prepare(
      `SELECT DISTINCT slot FROM rollup_spans WHERE level = ? AND slot >= ? AND slot < ?
        AND key_id IN (SELECT value FROM json_each(?)) ORDER BY slot DESC`,
    )
    this.#quarters = database.prepare(
      `SELECT DISTINCT slot FROM rollup_quarters WHERE slot >= ? AND slot < ?
        AND key_id IN (SELECT value FROM json_each(?)) ORDER BY slot DESC`,
    )
  }

  /** How many of the first written calls the quarters know of. */
  get watermark(): number {
    return this.#state().watermark
  }

  /**
   * The quarters from `first` to `past` (exclusive) in which some call passes each part of the filter, the newest
   * first; `null` if the filter does not help.
   */
  matching(filter: IdFilter, first: number, past: number): Iterable<number> | null {
    const keySets = partsOf(filter).flatMap(([grouping, part]) => this.#keysOf(grouping, part) ?? [])
    if (keySets.length === 0) return null
    return this.#matching(keySets, first, past)
  }

  *#matching(keySets: readonly string[], first: number, past: number): Generator<number> {
    const quarters = quartersOf(dayLevel)
    // Later days are not complete.
    const daysEnd = Math.floor(this.#state().coarseUntil / quarters) * quarters
    yield* this.#within(keySets, Math.max(first, daysEnd), past)
    if (first < daysEnd) yield* this.#byLevel(keySets, dayLevel, first, Math.min(past, daysEnd))
  }

  /** Looks for days, within them for hours, within those for quarters. */
  *#byLevel(keySets: readonly string[], level: 1 | 3, first: number, past: number): Generator<number> {
    const quarters = quartersOf(level)
    const [from, to] = [Math.floor(first / quarters), Math.ceil(past / quarters)]
    const slots = inAll(
      keySets.map((keys) => this.#slots.all(level, from, to, keys).map((row) => Number(row['slot']))),
    )
    for (const slot of slots) {
      const [low, high] = [Math.max(first, slot * quarters), Math.min(past, (slot + 1) * quarters)]
      if (level === dayLevel) yield* this.#byLevel(keySets, hourLevel, low, high)
      else yield* this.#within(keySets, low, high)
    }
  }

  #within(keySets: readonly string[], first: number, past: number): readonly number[] {
    return inAll(
      keySets.map((keys) => this.#quarters.all(first, past, keys).map((row) => Number(row['slot']))),
    )
  }

  /** The keys that let a part of the filter through, as JSON; `null` if they are too many to help. */
  #keysOf(grouping: Grouping, filter: IdFilter): string | null {
    const keys = this.#keys.all(grouping.id).filter((row) => {
      const entry = Number(row['entry_id'])
      const entryPasses =
        grouping.entry === null || entry === otherEntryId || filter[grouping.entry]?.has(entry) !== false
      return (
        entryPasses &&
        filter.call_type?.has(Number(row['call_type_id'])) !== false &&
        filter.outcome?.has(Number(row['outcome_id'])) !== false
      )
    })
    return keys.length > mostKeys ? null : JSON.stringify(keys.map((row) => row['id']))
  }
}

/** The filter by the groupings that know its parts: call type and outcome go with each. */
function partsOf(filter: IdFilter): readonly (readonly [Grouping, IdFilter])[] {
  const outer: readonly Dimension[] = ['call_type', 'outcome']
  const common = outer.filter((dimension) => filter[dimension] !== undefined)
  const entries = (Object.keys(filter) as Dimension[]).filter(
    (dimension) => dimension !== 'call_type' && dimension !== 'outcome',
  )
  const sets = entries.length === 0 ? [common] : entries.map((entry) => common.concat(entry))
  return sets.flatMap((asked) => {
    const grouping = groupingFor(new Set(asked))
    return grouping === null || asked.length === 0 ? [] : [[grouping, filter] as const]
  })
}

/** What is in every list, in their common order. */
function inAll(lists: readonly (readonly number[])[]): readonly number[] {
  const [first = [], ...others] = lists
  const sets = others.map((list) => new Set(list))
  return first.filter((slot) => sets.every((set) => set.has(slot)))
}
