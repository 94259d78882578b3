import { type NamedField, type PublicFields, storedFields } from './fields/call-fields.ts'

/**
 * Filters by the fields of a call, under their names in `/api/query`: parsing, selection in SQL and the types
 * follow from this table. `any`: one of some values. `least`, `most`: a bound, included; unknown values match neither.
 */
export const callFilters = {
  model: { by: 'any', field: 'model' },
  call_type: { by: 'any', field: 'call_type' },
  outcome: { by: 'any', field: 'outcome' },
  failure_code: { by: 'any', field: 'failure_code' },
  status: { by: 'any', field: 'status' },
  client: { by: 'any', field: 'client' },
  endpoint: { by: 'any', field: 'endpoint' },
  session: { by: 'any', field: 'session' },
  source: { by: 'any', field: 'source' },
  upstream_name: { by: 'any', field: 'upstream_name' },
  upstream_request_id: { by: 'any', field: 'upstream_request_id' },
  min_ms: { by: 'least', field: 'duration_ms' },
  max_ms: { by: 'most', field: 'duration_ms' },
} as const

type Table = typeof callFilters

export type FilterName = keyof Table

type FieldFilters = {
  readonly [Name in FilterName]?: Table[Name]['by'] extends 'any'
    ? readonly NonNullable<PublicFields[Table[Name]['field']]>[]
    : number
}

/** A filter of calls. All given members must hold. */
export interface CallFilter extends FieldFilters {
  /** Inclusive, milliseconds since the Unix epoch, by the time at which the call's head was received. */
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
  readonly failedOnly?: boolean
  /** `key:value`: of each key that is named, one of the values. */
  readonly tag?: readonly string[]
  /** An id as people see it, an error code (ours or the upstream's), or the id of a trace: exactly this. */
  readonly exactly?: string
}

/** A filter of the table, with its field. */
export interface NamedFilter {
  readonly name: FilterName
  readonly by: 'any' | 'least' | 'most'
  readonly field: NamedField
}

/** The table as a list. */
export const namedFilters: readonly NamedFilter[] = Object.entries(callFilters).flatMap(
  ([name, { by, field }]) =>
    storedFields
      .filter((stored) => stored.name === field)
      .map((stored) => ({ name: name as FilterName, by, field: stored })),
)
