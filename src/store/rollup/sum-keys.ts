import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import { type SummedCall, valueOf } from './summed-calls.ts'
import { type Grouping, keyColumns, namedDimensions, noId, otherId, sumDimensions } from './groupings.ts'

const findSql = `SELECT id FROM sum_keys WHERE grouping_id = ? AND ${keyColumns.map((name) => `${name} = ?`).join(' AND ')}`
const addSql = `INSERT INTO sum_keys (grouping_id, ${keyColumns.join(', ')}) VALUES (?, ${keyColumns.map(() => '?').join(', ')})`

/** The ids of combinations. After a rollback, make a new instance, because this one has keys that no longer exist. */
export class SumKeys {
  readonly #statements: RowStatements
  readonly #limit: number
  readonly #isReading: boolean
  readonly #ids = new Map<string, number>()

  /** `limit` is for tests. With `isReading`, no key is added. */
  constructor(
    statements: RowStatements,
    { limit = Number.POSITIVE_INFINITY, isReading = false }: { limit?: number; isReading?: boolean } = {},
  ) {
    this.#statements = statements
    this.#limit = limit
    this.#isReading = isReading
  }

  /** The key of a call, which is added if it is new; {@link noId} if it must not be added. */
  idFor(grouping: Grouping, call: SummedCall): number {
    const parts = [grouping.id, ...sumDimensions.map((name) => valueIn(grouping, name, call))]
    return getOrAdd(this.#ids, parts.join(' '), () => this.#find(parts) ?? this.#add(grouping, parts))
  }

  #find(parts: readonly number[]): number | null {
    return this.#statements.number(findSql, ...parts)
  }

  #add(grouping: Grouping, parts: readonly number[]): number {
    const others = [
      grouping.id,
      ...sumDimensions.map((name, at) =>
        grouping.by.includes(name) && namedDimensions.includes(name) ? otherId : (parts[at + 1] ?? noId),
      ),
    ]
    if (this.#isReading) return this.#find(others) ?? noId
    const most = Math.min(this.#limit, grouping.mostKeys)
    const count = 'SELECT count(*) FROM (SELECT 1 FROM sum_keys WHERE grouping_id = ? LIMIT ?)'
    const isFull = (this.#statements.number(count, grouping.id, most) ?? 0) >= most
    if (!isFull) return this.#statements.run(addSql, ...parts)
    return this.#find(others) ?? this.#statements.run(addSql, ...others)
  }
}

function valueIn({ by }: Grouping, dimension: (typeof sumDimensions)[number], call: SummedCall): number {
  return by.includes(dimension) ? (valueOf(call, dimension) ?? noId) : noId
}
