import { type NamedField, type PublicFields, storedFields } from './fields/call-fields.ts'

/**
 * The filters by fields of a call, under their names in `/api/query`. Parsing, SQL and types follow from this
 * table. `any`: the field has one of some values. `least`, `most`: an inclusive bound; an unknown value
 * matches neither.
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
  /** Start of the range, inclusive: ms since the Unix epoch. A call counts at the time at which its head was received. */
  readonly fromMs?: number
  /** End of the range, exclusive: ms since the Unix epoch. */
  readonly toMs?: number
  readonly failedOnly?: boolean
  /** Tags as `key:value`. For each key that is named, the call has one of its values. */
  readonly tag?: readonly string[]
  /** Exactly this call id (as people see it), error code (ours or the upstream's), or trace id. */
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
