import { dimensionFields, type Grouping, noId, otherId, type SumDimension } from '../rollup/groupings.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { IdFilter } from './call-condition.ts'

/**
 * The keys of a grouping that pass a filter on the grouping's own fields, with the value of the dimension of
 * all calls with the key. The value is {@link otherId} if only some of these calls pass, because the key means
 * all further names of an asked field.
 */
export function keysPassing(
  statements: RowStatements,
  grouping: Grouping,
  filter: IdFilter,
  dimension: SumDimension | null,
): readonly { readonly id: number; readonly value: number | null }[] {
  const parts = Object.entries(filter) as [SumDimension, ReadonlySet<number>][]
  const columns = parts.map(([name]) => dimensionFields[name].column)
  const value = dimension === null ? noId : dimensionFields[dimension].column
  const isOther = [value, ...columns].map((asked) => `${asked} = ${otherId}`).join(' OR ')
  const conditions = columns.map(
    (column) => ` AND (${column} = ${otherId} OR ${column} IN (SELECT value FROM json_each(?)))`,
  )
  const sql = `SELECT id, iif(${isOther}, ${otherId}, ${value}) FROM sum_keys
    WHERE grouping_id = ${grouping.id}${conditions.join('')}`
  return statements
    .all<readonly [number, number]>(sql, ...parts.map(([, allowed]) => JSON.stringify([...allowed])))
    .map(([id, stored]) => ({ id, value: stored === noId ? null : stored }))
}
