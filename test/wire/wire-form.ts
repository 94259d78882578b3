import type { CallJson } from '../../src/call/call-record.ts'
import { unknownJson } from '../support/call-json.ts'
import type { HeaderLines } from '../support/response-bytes.ts'

/** The fields of a row that come out of an answer; `cost_usd` only as reported. */
export const answerFields = [
  'call_type',
  'status',
  'outcome',
  'failure_code',
  'upstream_error_code',
  'error_message',
  'finish_reason',
  'response_model',
  'service_tier',
  'upstream_request_id',
  'upstream_queue_ms',
  'upstream_prompt_ms',
  'upstream_decode_ms',
  'chunks',
  'usage_source',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'input_audio_tokens',
  'output_audio_tokens',
  'reasoning_tokens',
  'total_tokens',
  'search_units',
  'audio_ms',
  'image_tokens',
  'cost_usd',
  'price_source',
] as const

export type AnswerColumns = Pick<CallJson, (typeof answerFields)[number]>

export function answerColumns(row: CallJson): AnswerColumns {
  return Object.fromEntries(answerFields.map((name) => [name, row[name]])) as unknown as AnswerColumns
}

/** What an answer from which nothing can be read leaves in a row. */
const blank: AnswerColumns = {
  ...answerColumns(unknownJson),
  call_type: 'chat',
  status: 200,
  outcome: 'ok',
  usage_source: 'none',
}

/** One answer as an upstream sends it, and the row that it must leave. */
export interface WireForm {
  readonly name: string
  readonly method: 'POST' | 'GET'
  readonly path: string
  readonly status: number
  readonly headers: HeaderLines
  readonly body: Buffer
  readonly columns: AnswerColumns
  /** Of a stream: which event with data brings the first content, and the first that is visible. */
  readonly firstContent: readonly [first: number, visible: number | null] | null
  /** Token counts that an answer which is cut may report beside the final ones: earlier sums of the same stream. */
  readonly earlier: readonly (readonly [input: number, output: number | null])[]
}

interface FormOptions {
  readonly method?: 'POST' | 'GET'
  readonly path?: string
  readonly status?: number
  readonly headers?: HeaderLines
  readonly firstContent?: WireForm['firstContent']
  readonly earlier?: WireForm['earlier']
}

/** The columns that are not blank. */
type Row = Partial<AnswerColumns>

/** A body that is one text; JSON unless its headers say otherwise. */
export function bodyForm(name: string, body: unknown, row: Row = {}, options: FormOptions = {}): WireForm {
  const { method = 'POST', path = '/v1/chat/completions', status = 200 } = options
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = [['Content-Type', 'application/json'] as const, ...(options.headers ?? [])]
  return {
    name,
    method,
    path,
    status,
    headers: hasType(options) ? (options.headers ?? []) : headers,
    body: Buffer.from(text),
    columns: { ...blank, status, ...row },
    firstContent: null,
    earlier: [],
  }
}

/** A body that is a stream of events, given as its text or as events with data. */
export function streamForm(
  name: string,
  events: string | readonly unknown[],
  row: Row = {},
  options: FormOptions = {},
): WireForm {
  const text = typeof events === 'string' ? events : events.map((data) => event(data)).join('')
  const headers = [['Content-Type', 'text/event-stream; charset=utf-8'] as const, ...(options.headers ?? [])]
  return {
    ...bodyForm(name, text, row, {
      ...options,
      headers: hasType(options) ? (options.headers ?? []) : headers,
    }),
    firstContent: options.firstContent ?? null,
    earlier: options.earlier ?? [],
  }
}

function hasType({ headers = [] }: FormOptions): boolean {
  return headers.some(([name]) => name === 'Content-Type')
}

/** One event; an object is written as JSON. */
export function event(data: unknown, name?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`
}

export const done = '[DONE]'

/** Token columns as read from a usage object, the parts that are not named being zero. */
export function tokens(
  input: number,
  output: number | null,
  parts: Partial<AnswerColumns> = {},
): Partial<AnswerColumns> {
  return {
    usage_source: 'usage',
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: output === null ? null : input + output,
    ...parts,
  }
}

export function failed(
  code: AnswerColumns['failure_code'],
  upstreamCode: string | null,
  message: string | null,
): Partial<AnswerColumns> {
  const outcome = code === 'stream_truncated' ? 'upstream_cut' : 'upstream_error'
  return { outcome, failure_code: code, upstream_error_code: upstreamCode, error_message: message }
}
