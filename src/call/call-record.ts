import { type PublicFields, type RecordFields, storedFields } from './fields/call-fields.ts'
import type { FailureCode } from './failure.ts'

/**
 * All fields of a row, and its id. `callFields` describes the fields. Times are milliseconds with fractions.
 * `null` means unknown; 0 means a measured or reported zero.
 */
export interface StoredCall extends RecordFields {
  readonly id: number
}

/** The record of an ended call: exactly one per call, however it ended. */
export interface CallRecord extends StoredCall {
  readonly failureCode: FailureCode | null
  /** Duration in milliseconds. Only a stored row `interrupted` has no duration. */
  readonly durationMs: number
}

/** A call as in `/api/query`, `calls --json` and the export. `callFields` describes each field. */
export interface CallJson extends PublicFields {
  /** Eleven characters: see `call-id.ts`. */
  readonly id: string
  /** ISO 8601, UTC. */
  readonly started_at: string
}

/** The fields of a call in a list, named as in `/api/query`. */
export const overviewCallFields = [
  'id',
  'started_at',
  'call_type',
  'endpoint',
  'model',
  'client',
  'status',
  'outcome',
  'failed',
  'failure_code',
  'stream',
  'attempts',
  'receive_ms',
  'queue_ms',
  'retry_wait_ms',
  'ttft_ms',
  'ttft_total_ms',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'cost_usd',
] as const satisfies readonly (keyof CallJson)[]

type NullableFields = {
  readonly [Name in keyof RecordFields as null extends RecordFields[Name] ? Name : never]: null
}

/** A record in which every optional field is unknown. */
export const unknownFields: NullableFields = Object.fromEntries(
  storedFields.flatMap(({ record, required }) => (required === true ? [] : [[record, null]])),
) as NullableFields

/** A record that is filled in while its call runs. */
export type CallDraft = { -readonly [Name in keyof CallRecord]: CallRecord[Name] } & {
  /** `index` and `noted` belong to the sink: see `OpenCall`. */
  index: number
  noted: number
}

const blank: CallDraft = {
  ...unknownFields,
  id: 0,
  index: -1,
  noted: 0,
  callType: 'other',
  endpoint: '/',
  method: 'GET',
  stream: false,
  instance: '',
  outcome: 'ok',
  attempts: 0,
  durationMs: 0,
  usageSource: 'none',
  requestBytes: 0,
  responseBytes: 0,
}

/** A record without values for a new call. Copying a record with all fields is cheaper than adding fields one by one. */
export function blankRecord(): CallDraft {
  return { ...blank }
}

/** A call of an imported source, or the reason why it cannot be read. */
export interface ReadCall {
  /** The record's place: a line of the file, or a row of a database. */
  readonly line: number
  readonly call: StoredCall | null
  /** A hash of all fields of the record in its source. */
  readonly identity: bigint
  readonly problem: string
  /** Values that were left out because they cannot be true. */
  readonly notes: readonly string[]
}
