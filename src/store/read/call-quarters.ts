import type { DatabaseSync } from 'node:sqlite'
import type { IdFilter } from './call-condition.ts'
import { type Dimension, type Grouping, groupingFor } from '../rollup/rollup-groupings.ts'
import { quartersOf } from '../rollup/rollup-spans.ts'
import { type RollupState, rollupState } from '../rollup/rollup-state.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { keysPassing } from './filter-keys.ts'

/** With more keys than these to look for, they are common, and looking at every quarter is no slower. */
const mostKeys = 200

/** Finds the quarter hours that can hold calls of a filter, so that rare ones are not looked for in all others. */
export class CallQuarters {
  readonly #state: () => RollupState
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#state = rollupState(database)
    this.#statements = new RowStatements(database)
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
    const keySets = groupingsOf(filter).flatMap((grouping) => this.#keysOf(grouping, filter) ?? [])
    if (keySets.length === 0) return null
    return this.#matching(keySets, first, past)
  }

  *#matching(keySets: readonly string[], first: number, past: number): Generator<number> {
    const quarters = quartersOf(3)
    // Later days are not complete.
    const daysEnd = Math.floor(this.#state().coarseUntil / quarters) * quarters
    yield* this.#within(keySets, [0], Math.max(first, daysEnd), past)
    if (first < daysEnd) yield* this.#within(keySets, [3, 1, 0], first, Math.min(past, daysEnd))
  }

  /** Looks for slots of the first level, within them for those of the next, and so on. */
  *#within(
    keySets: readonly string[],
    [level = 0, ...finer]: readonly (0 | 1 | 3)[],
    first: number,
    past: number,
  ): Generator<number> {
    const width = quartersOf(level)
    const [from, to] = [Math.floor(first / width), Math.ceil(past / width)]
    const table = level === 0 ? 'rollup_quarters WHERE' : `rollup_spans WHERE level = ${level} AND`
    const found = `SELECT DISTINCT slot FROM ${table} slot >= ? AND slot < ? AND key_id IN (SELECT value FROM json_each(?))
      ORDER BY slot DESC`
    const slots = keySets.map(
      (keys) => new Set(this.#statements.all<readonly [number]>(found, from, to, keys).map(([slot]) => slot)),
    )
    for (const slot of slots.reduce((both, others) => both.intersection(others))) {
      if (finer.length === 0) yield slot
      else
        yield* this.#within(keySets, finer, Math.max(first, slot * width), Math.min(past, (slot + 1) * width))
    }
  }

  /** The keys that let a part of the filter through, as JSON; `null` if they are too many to help. */
  #keysOf(grouping: Grouping, filter: IdFilter): string | null {
    const keys = keysPassing(this.#statements, grouping, filter)
    return keys.length > mostKeys ? null : JSON.stringify(keys.map(({ id }) => id))
  }
}

/** Groupings that know the parts of a filter: call type and outcome go with each. */
function groupingsOf(filter: IdFilter): readonly Grouping[] {
  const asked = Object.keys(filter) as Dimension[]
  const isCommon = (dimension: Dimension): boolean => dimension === 'call_type' || dimension === 'outcome'
  const common = asked.filter(isCommon)
  const entries = asked.filter((dimension) => !isCommon(dimension))
  const parts = entries.length === 0 ? [common] : entries.map((entry) => common.concat(entry))
  return parts.flatMap((part) => (part.length === 0 ? [] : (groupingFor(new Set(part)) ?? [])))
}
