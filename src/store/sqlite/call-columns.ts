import type { CallJson } from '../../call/call-reader.ts'
import type { CallRecord } from '../../call/call-record.ts'
import { callTypeCodes, outcomeCodes, usageSourceCodes } from './call-codes.ts'

/** What a row holds: a call that was interrupted ended at a time that nobody knows. */
export interface StoredCall extends Omit<CallRecord, 'durationMs'> {
  readonly durationMs: number | null
}

/** Tables of repeated text. A row of `calls` names an entry by its number. */
export type DimensionTable =
  | 'models'
  | 'endpoints'
  | 'upstreams'
  | 'instances'
  | 'clients'
  | 'user_agents'
  | 'sessions'
  | 'labels'

interface Column {
  /** The name in the table, with its unit. */
  readonly name: string
  readonly publicName: keyof CallJson
  /** The public value, in SQL, with `c` standing for the row. */
  readonly sql: string
}

/** Stored as an integer in the column's unit; `NaN` stands for null on the way there. */
export interface NumberColumn extends Column {
  readonly kind: 'number'
  readonly read: (call: StoredCall) => number
}

export interface DimensionColumn extends Column {
  readonly kind: 'dimension'
  readonly table: DimensionTable
  readonly read: (call: StoredCall) => string | null
}

/** Text that hardly ever repeats. */
export interface TextColumn extends Column {
  readonly kind: 'text'
  readonly read: (call: StoredCall) => string | null
}

export type CallColumn = NumberColumn | DimensionColumn | TextColumn

const largest = Number.MAX_SAFE_INTEGER

/** Whole numbers only, and none that a reader could not hold: an upstream may report any count it likes. */
function whole(value: number | null): number {
  return value !== null && value <= largest && value >= -largest ? Math.round(value) : Number.NaN
}

function count(name: keyof CallJson, read: (call: StoredCall) => number | null): NumberColumn {
  return { kind: 'number', name, publicName: name, sql: `c.${name}`, read: (call) => whole(read(call)) }
}

/** Milliseconds in the vocabulary and in public, integer microseconds in the row. */
function time(publicName: keyof CallJson, read: (call: StoredCall) => number | null): NumberColumn {
  const name = publicName.replace(/_ms$/, '_us')
  const inMicroseconds = (call: StoredCall): number => {
    const ms = read(call)
    return ms === null ? Number.NaN : whole(ms * 1000)
  }
  return { kind: 'number', name, publicName, sql: `c.${name} / 1000.0`, read: inMicroseconds }
}

function code(publicName: keyof CallJson, read: (call: StoredCall) => number): NumberColumn {
  const name = `${publicName}_id`
  const sql = `(SELECT text FROM ${publicName}s WHERE id = c.${name})`
  return { kind: 'number', name, publicName, sql, read }
}

function dimension(
  publicName: keyof CallJson,
  table: DimensionTable,
  read: (call: StoredCall) => string | null,
): DimensionColumn {
  const name = `${publicName}_id`
  const sql = `(SELECT text FROM ${table} WHERE id = c.${name})`
  return { kind: 'dimension', name, publicName, table, sql, read }
}

function text(name: keyof CallJson, read: (call: StoredCall) => string | null): TextColumn {
  return { kind: 'text', name, publicName: name, sql: `c.${name}`, read }
}

const fingerprint: NumberColumn = {
  kind: 'number',
  name: 'key_fingerprint',
  publicName: 'key_fingerprint',
  sql: "CASE WHEN c.key_fingerprint IS NOT NULL THEN printf('%08x', c.key_fingerprint & 4294967295) END",
  /** As a signed 32-bit integer, which takes four bytes where an unsigned one may take six. */
  read: (call) =>
    call.keyFingerprint === null ? Number.NaN : whole(Number.parseInt(call.keyFingerprint, 16) | 0),
}

const stream: NumberColumn = {
  kind: 'number',
  name: 'stream',
  publicName: 'stream',
  sql: 'c.stream',
  read: (call) => (call.stream ? 1 : 0),
}

const cost: NumberColumn = {
  kind: 'number',
  name: 'cost_nano_usd',
  publicName: 'cost_usd',
  sql: 'c.cost_nano_usd / 1e9',
  read: (call) => whole(call.costNanoUsd),
}

/**
 * Every stored field of a call but `id` and `seq`, named once: the encoding, the INSERT, the view and the
 * reader follow from this list.
 */
export const callColumns: readonly CallColumn[] = [
  code('call_type', (call) => callTypeCodes[call.callType]),
  dimension('endpoint', 'endpoints', (call) => call.endpoint),
  dimension('method', 'labels', (call) => call.method),
  stream,
  dimension('model', 'models', (call) => call.model),
  dimension('response_model', 'models', (call) => call.responseModel),
  dimension('service_tier', 'labels', (call) => call.serviceTier),
  dimension('upstream', 'upstreams', (call) => call.upstream),
  dimension('instance', 'instances', (call) => call.instance),
  count('status', (call) => call.status),
  code('outcome', (call) => outcomeCodes[call.outcome]),
  dimension('failure_code', 'labels', (call) => call.failureCode),
  dimension('upstream_error_code', 'labels', (call) => call.upstreamErrorCode),
  text('error_message', (call) => call.errorMessage),
  dimension('finish_reason', 'labels', (call) => call.finishReason),
  count('attempts', (call) => call.attempts),
  count('client_retry', (call) => call.clientRetry),
  time('receive_ms', (call) => call.receiveMs),
  time('queue_ms', (call) => call.queueMs),
  time('retry_wait_ms', (call) => call.retryWaitMs),
  time('connect_ms', (call) => call.connectMs),
  time('ttfb_ms', (call) => call.ttfbMs),
  time('ttft_ms', (call) => call.ttftMs),
  time('ttfo_ms', (call) => call.ttfoMs),
  time('duration_ms', (call) => call.durationMs),
  time('overhead_ms', (call) => call.overheadMs),
  time('tpot_ms', (call) => call.tpotMs),
  count('chunks', (call) => call.chunks),
  time('gap_p50_ms', (call) => call.gapP50Ms),
  time('gap_p95_ms', (call) => call.gapP95Ms),
  time('gap_max_ms', (call) => call.gapMaxMs),
  count('stalls', (call) => call.stalls),
  count('input_tokens', (call) => call.inputTokens),
  count('output_tokens', (call) => call.outputTokens),
  count('cached_input_tokens', (call) => call.cachedInputTokens),
  count('cache_write_tokens', (call) => call.cacheWriteTokens),
  count('cache_write_1h_tokens', (call) => call.cacheWrite1hTokens),
  count('input_audio_tokens', (call) => call.inputAudioTokens),
  count('output_audio_tokens', (call) => call.outputAudioTokens),
  count('reasoning_tokens', (call) => call.reasoningTokens),
  count('total_tokens', (call) => call.totalTokens),
  code('usage_source', (call) => usageSourceCodes[call.usageSource]),
  count('request_bytes', (call) => call.requestBytes),
  count('response_bytes', (call) => call.responseBytes),
  count('search_units', (call) => call.searchUnits),
  text('upstream_request_id', (call) => call.upstreamRequestId),
  time('upstream_queue_ms', (call) => call.upstreamQueueMs),
  time('upstream_prompt_ms', (call) => call.upstreamPromptMs),
  time('upstream_decode_ms', (call) => call.upstreamDecodeMs),
  dimension('client', 'clients', (call) => call.client),
  fingerprint,
  dimension('user_agent', 'user_agents', (call) => call.userAgent),
  dimension('session', 'sessions', (call) => call.session),
  cost,
  dimension('price_source', 'labels', (call) => call.priceSource),
  dimension('price_key', 'labels', (call) => call.priceKey),
]
