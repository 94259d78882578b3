import { randomBytes } from 'node:crypto'
import { formatCallId, startedAtMs } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { isFailed } from '../call/outcome.ts'
import { remembered } from '../lib/remembered.ts'

/** The client span of one call. Ids are hexadecimal texts. */
export interface CallSpan {
  readonly call: StoredCall
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** The caller's span on the other side of the connection; null if the call begins a trace. */
  readonly parentSpanId: string | null
  /** Microseconds since the Unix epoch. */
  readonly startUs: number
  readonly endUs: number
  readonly isFailed: boolean
}

/**
 * An attribute of a span, and how it is read from a call; null or a negative count leaves it out. A `list`
 * has words with commas between them. An `id` has letters and digits that no two calls share.
 */
export interface SpanAttribute {
  readonly name: string
  readonly type: 'text' | 'list' | 'flag' | 'id' | 'count' | 'measure'
  readonly of: (call: StoredCall) => string | number | boolean | null
}

/**
 * The default ports of upstreams whose hosts have no port, because rows do not have the scheme. Keys are the
 * upstream's name, `default` for that of `--upstream`, and then the host.
 */
export type SchemePorts = Readonly<Record<string, Readonly<Record<string, number>>>>

type Row = readonly [SpanAttribute['name'], SpanAttribute['type'], SpanAttribute['of']]

/**
 * The attributes of every span, by OpenTelemetry's semantic conventions for HTTP and for generative AI, which
 * are not stable. Attributes without a conventional name are ours. None has text of a prompt or an answer.
 * `schemePorts` is read for each call.
 */
export function spanAttributes(schemePorts: () => SchemePorts): readonly SpanAttribute[] {
  const addressOf = ({ upstream }: StoredCall): Address | null =>
    upstream === null ? null : addressIn(upstream)
  const portOf = (call: StoredCall): number | null =>
    addressOf(call)?.port ?? schemePorts()[call.upstreamName ?? 'default']?.[call.upstream ?? ''] ?? null
  const rows: readonly Row[] = [
    ['gen_ai.operation.name', 'text', operationOf],
    ['gen_ai.provider.name', 'text', (call) => addressOf(call)?.provider ?? null],
    ['gen_ai.request.model', 'text', (call) => call.model],
    ['gen_ai.request.stream', 'flag', (call) => (operationOf(call) === null ? null : call.stream)],
    ['gen_ai.response.model', 'text', (call) => call.responseModel],
    ['gen_ai.response.finish_reasons', 'list', (call) => call.finishReason],
    // The row has no time of the very first chunk, which often has only the role.
    [
      'gen_ai.response.time_to_first_chunk',
      'measure',
      (call) => (call.stream ? per(call.ttftMs, 1000) : null),
    ],
    ['gen_ai.usage.input_tokens', 'count', (call) => call.inputTokens],
    ['gen_ai.usage.output_tokens', 'count', (call) => call.outputTokens],
    ['gen_ai.usage.cache_read.input_tokens', 'count', (call) => call.cachedInputTokens],
    ['gen_ai.usage.cache_write.input_tokens', 'count', (call) => call.cacheWriteTokens],
    ['gen_ai.usage.reasoning.output_tokens', 'count', (call) => call.reasoningTokens],
    ['gen_ai.conversation.id', 'text', (call) => call.session],
    ['error.type', 'text', errorType],
    ['server.address', 'text', (call) => addressOf(call)?.host ?? null],
    ['server.port', 'count', portOf],
    ['http.response.status_code', 'count', (call) => (call.ttfbMs === null ? null : call.status)],
    ['http.request.method', 'text', (call) => (operationOf(call) === null ? call.method : null)],
    ['url.path', 'text', (call) => (operationOf(call) === null ? call.endpoint : null)],
    ['tokenweir.call_id', 'id', (call) => formatCallId(call.id)],
    ['tokenweir.outcome', 'text', (call) => call.outcome],
    ['tokenweir.attempts', 'count', (call) => call.attempts],
    ['tokenweir.queue_ms', 'measure', (call) => call.queueMs],
    ['tokenweir.retry_wait_ms', 'measure', (call) => call.retryWaitMs],
    ['tokenweir.overhead_ms', 'measure', (call) => call.overheadMs],
    ['tokenweir.cost_usd', 'measure', (call) => per(call.costNanoUsd, 1e9)],
  ]
  return rows.map(([name, type, of]) => ({ name, type, of }))
}

function per(value: number | null, unit: number): number | null {
  return value === null ? null : value / unit
}

/**
 * The span of a call. Null if its trace is not sampled, the call asked for no inference, or its end
 * is unknown.
 */
export function spanOf(call: StoredCall): CallSpan | null {
  const { callType, method, model, outcome, traceId, parentSpanId, durationMs } = call
  const isUnsampled = traceId !== null && parentSpanId === null
  const isInference = callType === 'other' ? method === 'POST' : callType !== 'props'
  if (isUnsampled || !isInference || outcome === 'interrupted') return null
  const operation = operationOf(call) ?? method
  const startUs = startedAtMs(call.id) * 1000
  return {
    call,
    name: model === null ? operation : `${operation} ${model}`,
    traceId: traceId ?? randomHex(32),
    spanId: randomHex(16),
    parentSpanId,
    startUs,
    endUs: startUs + Math.round((durationMs ?? 0) * 1000),
    isFailed: isFailed(outcome),
  }
}

/** The operation's name; null if the conventions have none, such as for a transcription. */
function operationOf({ callType, endpoint }: StoredCall): string | null {
  if (callType === 'embedding') return 'embeddings'
  if (callType !== 'chat') return callType === 'rerank' ? 'rerank' : null
  const isText = endpoint.endsWith('/completions') && !endpoint.endsWith('/chat/completions')
  return isText ? 'text_completion' : 'chat'
}

function errorType({ outcome, failureCode, status }: StoredCall): string | null {
  if (!isFailed(outcome)) return null
  return failureCode === 'upstream_http' && status !== null ? String(status) : (failureCode ?? outcome)
}

/** Providers by the end of a host's name. */
const providers = Object.entries({
  'openai.com': 'openai',
  'openai.azure.com': 'azure.ai.openai',
  'cognitiveservices.azure.com': 'azure.ai.openai',
  'ai.azure.com': 'azure.ai.inference',
  'anthropic.com': 'anthropic',
  'amazonaws.com': 'aws.bedrock',
  'cohere.com': 'cohere',
  'cohere.ai': 'cohere',
  'deepseek.com': 'deepseek',
  'generativelanguage.googleapis.com': 'gcp.gemini',
  'aiplatform.googleapis.com': 'gcp.vertex_ai',
  'groq.com': 'groq',
  'mistral.ai': 'mistral_ai',
  'perplexity.ai': 'perplexity',
  'x.ai': 'x_ai',
})

interface Address {
  readonly host: string
  /** The port in the host; null without one. */
  readonly port: number | null
  /** The conventions' name of the provider; the host if they have none. */
  readonly provider: string
}

const addressIn = remembered((upstream): Address => {
  const [, name = upstream, port] = /^(.*?)(?::(\d+))?$/.exec(upstream) ?? []
  const host = name.replace(/^\[(.*)\]$/, '$1')
  const providerEntry = providers.find(
    ([suffix]) => /^(?:|.*[.-])$/.test(host.slice(0, -suffix.length)) && host.endsWith(suffix),
  )
  return { host, port: port === undefined ? null : Number(port), provider: providerEntry?.[1] ?? host }
})

/** Random digits, a few thousand at a time, because each call of the generator costs a microsecond. */
let randomDigits = ''
let drawnAt = 0

function randomHex(digits: number): string {
  if (drawnAt + digits > randomDigits.length) {
    randomDigits = randomBytes(4096).toString('hex')
    drawnAt = 0
  }
  drawnAt += digits
  return randomDigits.slice(drawnAt - digits, drawnAt)
}
