import { type FieldKind, type StoredKind, fieldKinds } from './field-kinds.ts'

/**
 * All fields of an ended call: its record, columns, statements, JSON, CSV and documentation follow
 * from this table. A new field is a member here, and the code that fills it in.
 */

/** A field of a call: its kind, names and description. */
export interface CallField {
  readonly kind: FieldKind
  /** The field is null in no call. */
  readonly required?: true
  /** The name in a record, if it is not the public name in camel case. */
  readonly record?: string
  /** The name of the column, if it does not follow from the public name and the kind. */
  readonly column?: string
  readonly codes?: Readonly<Record<string, number>>
  readonly table?: string
  /** The type of a derived field's value (default: `number`). */
  readonly type?: 'boolean' | 'number'
  /** The description in docs/fields.md. */
  readonly doc: string
}

/** The fields by public name, in the order of columns and of `/api/query`. */
export const callFields = {
  call_type: {
    kind: 'code',
    required: true,
    codes: { chat: 0, embedding: 1, rerank: 2, props: 3, other: 4 },
    doc: 'by the path; `props`: models or server, `other`: any other path',
  },
  endpoint: { kind: 'word', required: true, table: 'endpoints', doc: 'path without query' },
  method: { kind: 'word', required: true, table: 'labels', doc: 'HTTP method' },
  stream: { kind: 'flag', required: true, doc: 'a stream was asked for' },
  model: { kind: 'word', table: 'models', doc: 'model asked for' },
  response_model: { kind: 'word', table: 'models', doc: 'first non-empty model name in the answer' },
  service_tier: { kind: 'word', table: 'labels', doc: 'how the upstream served the call, in its word' },
  upstream: { kind: 'word', table: 'upstreams', doc: 'host, and port unless the default' },
  instance: {
    kind: 'word',
    required: true,
    table: 'instances',
    doc: 'run of the gateway that took the call',
  },
  status: { kind: 'count', doc: 'HTTP status sent to the client; 499 if the client left before one' },
  outcome: {
    kind: 'code',
    required: true,
    // In this order "failed" is one comparison, which the partial index can use.
    codes: {
      ok: 0,
      client_disconnected: 1,
      upstream_error: 2,
      upstream_cut: 3,
      gateway_error: 4,
      refused: 5,
      interrupted: 6,
    },
    doc: 'how the call ended',
  },
  failed: {
    kind: 'derived',
    required: true,
    type: 'boolean',
    doc: 'any outcome but ok and client_disconnected: `outcome_id >= 2`',
  },
  failure_code: { kind: 'word', table: 'labels', doc: 'a code of errors.md' },
  upstream_error_code: { kind: 'word', table: 'labels', doc: 'code or type of the upstream’s error' },
  error_message: { kind: 'text', doc: 'at most 500 characters, secrets masked' },
  finish_reason: {
    kind: 'word',
    table: 'labels',
    doc: 'the upstream’s word; of several choices joined by `,`',
  },
  attempts: { kind: 'count', required: true, doc: 'tries of the upstream' },
  client_retry: { kind: 'count', doc: '`x-stainless-retry-count`' },
  receive_ms: { kind: 'time', doc: 'head received → body read' },
  queue_ms: { kind: 'time', doc: 'body read → slot held' },
  retry_wait_ms: { kind: 'time', doc: 'waits for retries, and time of attempts without an answer' },
  connect_ms: { kind: 'time', doc: 'dispatch → socket ready, of the attempt that answered' },
  ttfb_ms: { kind: 'time', doc: 'dispatch → first byte of the answer' },
  ttft_ms: { kind: 'time', doc: 'dispatch → first chunk with content, reasoning or a tool call' },
  ttft_total_ms: {
    kind: 'derived',
    type: 'number',
    doc: 'head received → the same: receive + queue + retry wait + TTFT',
  },
  ttfo_ms: { kind: 'time', doc: 'dispatch → first chunk with visible content, no reasoning' },
  duration_ms: { kind: 'time', doc: 'head received → last byte to the client' },
  overhead_ms: { kind: 'time', doc: 'time of the duration that the gateway itself took' },
  tpot_ms: { kind: 'time', doc: 'time per output token after the first' },
  output_tokens_per_s: { kind: 'derived', type: 'number', doc: 'after the first one: 1,000,000 ÷ `tpot_us`' },
  input_tokens_per_s: {
    kind: 'derived',
    type: 'number',
    doc: 'uncached input ÷ `upstream_prompt_us`',
  },
  chunks: { kind: 'count', doc: 'chunks with content' },
  gap_p50_ms: { kind: 'time', doc: 'median of the gaps between chunks with content' },
  gap_p95_ms: { kind: 'time', doc: '95th percentile of these gaps' },
  gap_max_ms: { kind: 'time', doc: 'longest of these gaps' },
  stalls: { kind: 'count', doc: 'gaps over one second' },
  input_tokens: { kind: 'count', doc: 'with cached input, cache writes and audio' },
  output_tokens: { kind: 'count', doc: 'with reasoning and audio' },
  cached_input_tokens: { kind: 'count', doc: 'input read from a cache' },
  cache_write_tokens: { kind: 'count', doc: 'input written to a cache' },
  cache_write_1h_tokens: { kind: 'count', doc: 'cache writes for an hour' },
  input_audio_tokens: { kind: 'count', doc: 'audio in the input' },
  output_audio_tokens: { kind: 'count', doc: 'audio in the output' },
  reasoning_tokens: { kind: 'count', doc: 'reasoning in the output' },
  total_tokens: { kind: 'count', doc: 'input + output' },
  usage_source: {
    kind: 'code',
    required: true,
    codes: { none: 0, usage: 1, timings: 2 },
    doc: 'origin of the counts: the usage object, llama.cpp’s timings, or none',
  },
  request_bytes: { kind: 'count', required: true, doc: 'body of the request' },
  response_bytes: { kind: 'count', required: true, doc: 'body of the answer, as received' },
  search_units: { kind: 'count', doc: 'search units of a rerank' },
  audio_ms: { kind: 'time', doc: 'audio in the input, if the upstream reports its length' },
  image_tokens: {
    kind: 'count',
    doc: 'images that a tool of the answer made; in none of the other counts',
  },
  upstream_request_id: { kind: 'text', doc: 'the upstream’s id of the request' },
  upstream_queue_ms: { kind: 'time', doc: 'queue time that the upstream reports' },
  upstream_prompt_ms: { kind: 'time', doc: 'prompt time that the upstream reports' },
  upstream_decode_ms: { kind: 'time', doc: 'output time that the upstream reports' },
  client: {
    kind: 'word',
    table: 'clients',
    doc: 'program that called ([callers.md](callers.md))',
  },
  key_fingerprint: { kind: 'fingerprint', doc: 'salted hash of the credential' },
  user_agent: { kind: 'word', table: 'user_agents', doc: '`User-Agent`' },
  session: {
    kind: 'word',
    table: 'sessions',
    doc: 'run of an agent ([sessions.md](sessions.md))',
  },
  cost_usd: {
    kind: 'cost',
    record: 'costNanoUsd',
    column: 'cost_nano_usd',
    doc: 'by the price at the call’s start',
  },
  price_source: { kind: 'word', table: 'labels', doc: '`upstream`, or the list of the price' },
  price_key: { kind: 'word', table: 'labels', doc: 'entry of the price' },
  trace_id: { kind: 'text', doc: 'the client’s trace, by its `traceparent`' },
  parent_span_id: {
    kind: 'text',
    doc: 'the client’s span; null if the trace is not sampled',
  },
  session_source: {
    kind: 'word',
    table: 'labels',
    doc: 'header or body key that named the session',
  },
  tags: { kind: 'word', table: 'tag_sets', doc: 'up to eight `key:value`, joined by `,`' },
  tool_calls: { kind: 'count', doc: 'tools that the answer asks for' },
  tools: { kind: 'word', table: 'tool_sets', doc: 'names of these tools, at most five, joined by `,`' },
  cache_saved_usd: {
    kind: 'cost',
    record: 'cacheSavedNanoUsd',
    column: 'cache_saved_nano_usd',
    doc: 'extra cost without a cache',
  },
  source: {
    kind: 'word',
    table: 'labels',
    doc: 'origin of an import ([moving-in.md](moving-in.md)); null for calls of a gateway on this database',
  },
  upstream_name: {
    kind: 'word',
    table: 'upstreams',
    doc: 'name of the upstream ([upstreams.md](upstreams.md)); `default` for that of `--upstream`',
  },
  met_limit: {
    kind: 'word',
    table: 'labels',
    doc: 'of a 429 or 529: the provider’s limit with the smallest share left, `requests`, `tokens`, `input_tokens` or `output_tokens`; NULL if its headers do not say',
  },
} as const

type Fields = typeof callFields

/** The public name of a field: of the view, of `/api/query`, of the CSV. */
export type FieldName = keyof Fields

/** Fields that have a column. */
export type StoredName = {
  [Name in FieldName]: Fields[Name]['kind'] extends 'derived' ? never : Name
}[FieldName]

type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text

/** The name of a field in a record. */
export type RecordName<Name extends FieldName> = Fields[Name] extends { readonly record: infer Given }
  ? Given & string
  : Camel<Name>

interface Values {
  readonly number: number
  readonly boolean: boolean
  readonly string: string
}

type OrNull<Field, Value> = Field extends { readonly required: true } ? Value : Value | null

/** The type of a field's value, without null. */
type Value<Field> = Field extends { readonly codes: infer Codes }
  ? keyof Codes
  : Field extends { readonly kind: infer Kind extends StoredKind }
    ? Values[(typeof fieldKinds)[Kind]['value']]
    : Field extends { readonly type: 'boolean' }
      ? boolean
      : number

/** The fields of a stored call under their names in a record. */
export type RecordFields = {
  readonly [Name in StoredName as RecordName<Name>]: OrNull<Fields[Name], Value<Fields[Name]>>
}

/** All fields under their public names. */
export type PublicFields = { readonly [Name in FieldName]: OrNull<Fields[Name], Value<Fields[Name]>> }

/** Tables of repeated text. A row of `calls` names an entry by its number. */
export type WordTable = Extract<Fields[FieldName], { readonly table: string }>['table']

/** A field of the table with all its names. */
export interface NamedField extends CallField {
  /** The public name. */
  readonly name: FieldName
  readonly record: keyof RecordFields
  readonly column: string
  readonly table?: WordTable
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, first: string) => first.toUpperCase())

function columnName(name: string, kind: FieldKind): string {
  if (kind === 'time') return name.replace(/_ms$/, '_us')
  return kind === 'code' || kind === 'word' ? `${name}_id` : name
}

function named([name, field]: readonly [string, CallField & { readonly table?: WordTable }]): NamedField {
  const record = (field.record ?? camel(name)) as NamedField['record']
  return { ...field, name: name as FieldName, record, column: field.column ?? columnName(name, field.kind) }
}

/** The type of a field's value in a record and in JSON. */
export function valueType({ kind, type = 'number' }: CallField): keyof Values {
  return kind === 'derived' ? type : fieldKinds[kind].value
}

/** The table as a list. */
export const namedFields: readonly NamedField[] = Object.entries(callFields).map(named)

/** The fields that have a column, in the order of the columns. */
export const storedFields: readonly NamedField[] = namedFields.filter(({ kind }) => kind !== 'derived')

/** The tables of repeated text. */
export const wordTables: readonly WordTable[] = [...new Set(storedFields.flatMap(({ table = [] }) => table))]

/** The codes of the closed sets by their words. */
export const callTypeCodes: Fields['call_type']['codes'] = callFields.call_type.codes
export const outcomeCodes: Fields['outcome']['codes'] = callFields.outcome.codes
export const usageSourceCodes: Fields['usage_source']['codes'] = callFields.usage_source.codes

/** Outcomes from this code on are failures; equals `isFailed` of the vocabulary. */
export const firstFailedOutcome = 2
