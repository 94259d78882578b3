import type { SQLInputValue } from 'node:sqlite'
import type { FieldDimension } from '../../call/call-question.ts'
import { dimensionFields } from '../rollup/groupings.ts'

/** Selects calls by ids of words, or codes. Fields are ANDed; an absent one matches all. */
export type IdFilter = Partial<Readonly<Record<FieldDimension, ReadonlySet<number>>>>

/** Conditions on a row `c` of `calls`, ANDed. Their text depends on the question, not on its values. */
export interface CallCondition {
  readonly conditions: readonly string[]
  readonly values: readonly SQLInputValue[]
}

/** A filter by ids in SQL. */
export function conditionOf(filter: IdFilter): CallCondition {
  return Object.entries(dimensionFields)
    .flatMap(([dimension, { column }]) => {
      const allowed = filter[dimension as FieldDimension]
      return allowed === undefined ? [] : inCondition(column, allowed)
    })
    .reduce(bothConditions, { conditions: [], values: [] })
}

/** The condition that a column has one of these values. */
export function inCondition(column: string, allowed: ReadonlySet<number | string>): CallCondition {
  const [only] = allowed
  return allowed.size === 1 && only !== undefined
    ? { conditions: [`c.${column} = ?`], values: [only] }
    : {
        conditions: [`c.${column} IN (SELECT value FROM json_each(?))`],
        values: [JSON.stringify([...allowed])],
      }
}

/** Both conditions, ANDed. */
export function bothConditions(first: CallCondition, second: CallCondition): CallCondition {
  return {
    conditions: [...first.conditions, ...second.conditions],
    values: [...first.values, ...second.values],
  }
}

/** `AND …` for each condition, to append to another one. */
export function andSql({ conditions }: CallCondition): string {
  return conditions.map((condition) => ` AND ${condition}`).join('')
}
