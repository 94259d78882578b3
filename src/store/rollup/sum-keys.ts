import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import { type SummedCall, valueOf } from './summed-calls.ts'
import { type Grouping, keyColumns, namedDimensions, noId, otherId, sumDimensions } from './groupings.ts'

const findSql = `SELECT id FROM sum_keys WHERE grouping_id = ? AND ${keyColumns.map((name) => `${name} = ?`).join(' AND ')}`
const addSql = `INSERT INTO sum_keys (grouping_id, ${keyColumns.join(', ')}) VALUES (?, ${keyColumns.map(() => '?').join(', ')})`

/** Returns the key of a call in a grouping. */
export type KeyOf = (grouping: Grouping, call: SummedCall) => number

/**
 * Returns a function for the ids of combinations, which are added if they are new. After a rollback, make a new
 * one, because this one has keys that no longer exist. `limit`: most keys of a grouping, for tests; with 0, no
 * key is added, and the function returns {@link noId} instead.
 */
export function sumKeys(statements: RowStatements, limit: number = Number.POSITIVE_INFINITY): KeyOf {
  const ids = new Map<string, number>()
  const find = (parts: readonly number[]): number | null => statements.number(findSql, ...parts)
  const add = (grouping: Grouping, parts: readonly number[]): number => {
    const most = Math.min(limit, grouping.mostKeys)
    const count = 'SELECT count(*) FROM (SELECT 1 FROM sum_keys WHERE grouping_id = ? LIMIT ?)'
    const isFull = (statements.number(count, grouping.id, most) ?? 0) >= most
    if (!isFull) return statements.run(addSql, ...parts)
    const others = [
      grouping.id,
      ...sumDimensions.map((name, at) =>
        grouping.by.includes(name) && namedDimensions.includes(name) ? otherId : (parts[at + 1] ?? noId),
      ),
    ]
    return find(others) ?? (most === 0 ? noId : statements.run(addSql, ...others))
  }
  return (grouping, call) => {
    const values = sumDimensions.map((name) =>
      grouping.by.includes(name) ? (valueOf(call, name) ?? noId) : noId,
    )
    const parts = [grouping.id, ...values]
    return getOrAdd(ids, parts.join(' '), () => find(parts) ?? add(grouping, parts))
  }
}
