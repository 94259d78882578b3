import {
  dimensionFields,
  type Grouping,
  namedDimensions,
  noId,
  otherId,
  type SumDimension,
} from '../rollup/groupings.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { IdFilter } from './call-condition.ts'

/** A key of a grouping that calls of a filter can have. */
export interface FoundKey {
  readonly id: number
  /** True for the rest key, which means all further names. */
  readonly isOther: boolean
  /** The value of the dimension of all calls with the key. */
  readonly value: number | null
}

/** The keys of a grouping that pass a filter on the grouping's own fields. */
export function keysPassing(
  statements: RowStatements,
  grouping: Grouping,
  filter: IdFilter,
  dimension: SumDimension | 'session' | null,
): readonly FoundKey[] {
  const parts = Object.entries(filter) as [SumDimension, ReadonlySet<number>][]
  const conditions = parts.map(
    ([name]) =>
      ` AND (${dimensionFields[name].column} = ${otherId} OR ${dimensionFields[name].column} IN (SELECT value FROM json_each(?)))`,
  )
  const value = dimension === null || dimension === 'session' ? noId : dimensionFields[dimension].column
  const named = namedDimensions.filter((name) => grouping.by.includes(name))
  const isOther = named.map((name) => `${dimensionFields[name].column} = ${otherId}`).join(' OR ') || '0'
  const sql = `SELECT id, ${isOther}, ${value} FROM sum_keys WHERE grouping_id = ${grouping.id}${conditions.join('')}`
  return statements
    .all<readonly [number, number, number]>(sql, ...parts.map(([, allowed]) => JSON.stringify([...allowed])))
    .map(([id, other, stored]) => ({ id, isOther: other === 1, value: stored < 0 ? null : stored }))
}
