import { type Dimension, entriesOfPair, type Grouping, otherEntryId } from '../rollup/rollup-groupings.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { IdFilter } from './call-condition.ts'

/** A key of a grouping under which calls of a filter can be. */
export interface FilterKey {
  readonly id: number
  /** Of entries that were put together, whatever they are. */
  readonly isOther: boolean
  /** What is the same for all its calls. */
  readonly values: Partial<Readonly<Record<Dimension, number>>>
}

/** The keys of a grouping that pass each part of a filter that the grouping tells apart. */
export function keysPassing(
  statements: RowStatements,
  grouping: Grouping,
  filter: IdFilter,
): readonly FilterKey[] {
  const keys = 'SELECT id, call_type_id, entry_id, outcome_id FROM rollup_keys WHERE grouping_id = ?'
  const parts = Object.entries(filter) as [Dimension, ReadonlySet<number>][]
  return statements
    .all<readonly [number, number, number, number]>(keys, grouping.id)
    .map(([id, callType, entry, outcome]): FilterKey => ({
      id,
      isOther: entry === otherEntryId,
      values: { call_type: callType, outcome, ...entriesOf(grouping, entry) },
    }))
    .filter(({ values }) =>
      parts.every(([dimension, allowed]) => {
        const value = values[dimension]
        return value === undefined || allowed.has(value)
      }),
    )
}

/** The ids of the entries for which a key of a grouping stands. */
function entriesOf({ entry, second }: Grouping, id: number): FilterKey['values'] {
  if (entry === null || id === otherEntryId) return {}
  if (second === undefined) return { [entry]: id }
  const [entryId, secondId] = entriesOfPair(id)
  return { [entry]: entryId, [second]: secondId }
}
