import type { DatabaseSync } from 'node:sqlite'
import { groupingFor } from '../rollup/groupings.ts'
import { dayOf, hoursPerDay } from '../rollup/time-plan.ts'
import { unsummedDays, unsummedHours } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import type { IdFilter } from './call-condition.ts'
import { keysPassing } from './sum-filter.ts'

/** Most keys to search for. With more, the calls are common, and reading every hour is as fast. */
const mostKeys = 200

/** The keys that pass a part of a filter, and their grouping. */
interface Part {
  readonly grouping: number
  readonly keys: string
}

/** Finds the hours that can have calls of a filter, so that rare calls are not searched among all others. */
export function callHours(
  database: DatabaseSync,
): (filter: IdFilter, first: number, past: number) => Iterable<number> | null {
  const statements = new RowStatements(database)
  return matching

  /** The hours from `first` to `past` (exclusive), the newest first; `null` if the filter does not help. */
  function matching(filter: IdFilter, first: number, past: number): Iterable<number> | null {
    const parts = (Object.keys(filter) as (keyof IdFilter)[]).flatMap((name) => partOf(name, filter))
    return parts.length === 0 ? null : hoursPassing(parts, first, past)
  }

  function* hoursPassing(parts: readonly Part[], first: number, past: number): Generator<number> {
    const unmade = unsummedDays(statements)
    const lacking = new Set(unsummedHours(statements, first, past).map(({ hour }) => hour))
    const days = cellNumbers(parts, 1440, dayOf(first), dayOf(past - 1) + 1)
    for (const day of unmade) days.add(day)
    for (const hour of lacking) days.add(dayOf(hour))
    for (const day of [...days].sort((a, b) => b - a)) {
      const [from, to] = [Math.max(first, day * hoursPerDay), Math.min(past, (day + 1) * hoursPerDay)]
      if (from >= to) continue
      const hours = cellNumbers(parts, 60, from, to)
      for (let hour = to - 1; hour >= from; hour--) if (hours.has(hour) || lacking.has(hour)) yield hour
    }
  }

  /** Numbers of the cells in which each part of the filter passes some call. */
  function cellNumbers(parts: readonly Part[], minutes: 60 | 1440, first: number, past: number): Set<number> {
    const sql = `SELECT DISTINCT cell_number FROM sums WHERE grouping_id = ? AND minutes = ? AND cell_number >= ? AND cell_number < ?
      AND key_id IN (SELECT value FROM json_each(?))`
    return parts
      .map(({ grouping, keys }) => {
        const rows = statements.all<readonly [number]>(sql, grouping, minutes, first, past, keys)
        return new Set(rows.map(([cellNumber]) => cellNumber))
      })
      .reduce((both, others) => both.intersection(others))
  }

  function partOf(name: keyof IdFilter, filter: IdFilter): readonly Part[] {
    const grouping = groupingFor(new Set([name]))
    if (grouping === null) return []
    const keys = keysPassing(statements, grouping, { [name]: filter[name] }, null)
    return keys.length > mostKeys
      ? []
      : [{ grouping: grouping.id, keys: JSON.stringify(keys.map(({ id }) => id)) }]
  }
}
