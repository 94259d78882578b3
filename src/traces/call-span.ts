import { randomBytes } from 'node:crypto'
import { formatCallId, startedAtMs } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { isFailed } from '../call/outcome.ts'
import { remembered } from '../lib/remembered.ts'

/** The client span of one call. Ids are hexadecimal digits. */
export interface CallSpan {
  readonly call: StoredCall
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Of the caller, on the other side of a connection; null for a trace of the call's own. */
  readonly parentSpanId: string | null
  /** Microseconds since the Unix epoch. */
  readonly startUs: number
  readonly endUs: number
  readonly isFailed: boolean
}

/**
 * An attribute of a span, as it is read from a call; null leaves it out. `words` are one text with commas between them,
 * `id` is a text of ASCII that no two calls share.
 */
export type SpanAttribute = { readonly name: string } & (
  | { readonly type: 'text' | 'words' | 'id'; readonly of: (call: StoredCall) => string | null }
  | { readonly type: 'count'; readonly of: (call: StoredCall) => number | null }
  | { readonly type: 'measure'; readonly of: (call: StoredCall) => number | null }
  | { readonly type: 'flag'; readonly of: (call: StoredCall) => boolean | null }
)

/**
 * The attributes of every span: names and meanings of OpenTelemetry's semantic conventions for generative AI, which are
 * not stable, and for HTTP; what they have no name for is ours. No text of a prompt or an answer is among them.
 * `schemePort` is the upstream's port if its name has none.
 */
export function spanAttributes(schemePort: number): readonly SpanAttribute[] {
  return [
    { name: 'gen_ai.operation.name', type: 'text', of: operationOf },
    {
      name: 'gen_ai.provider.name',
      type: 'text',
      of: ({ upstream }) => addressOf(upstream)?.provider ?? null,
    },
    { name: 'gen_ai.request.model', type: 'text', of: ({ model }) => model },
    {
      name: 'gen_ai.request.stream',
      type: 'flag',
      of: (call) => (operationOf(call) === null ? null : call.stream),
    },
    { name: 'gen_ai.response.model', type: 'text', of: ({ responseModel }) => responseModel },
    { name: 'gen_ai.response.finish_reasons', type: 'words', of: ({ finishReason }) => finishReason },
    { name: 'gen_ai.response.time_to_first_chunk', type: 'measure', of: firstChunkSeconds },
    { name: 'gen_ai.usage.input_tokens', type: 'count', of: ({ inputTokens }) => inputTokens },
    { name: 'gen_ai.usage.output_tokens', type: 'count', of: ({ outputTokens }) => outputTokens },
    {
      name: 'gen_ai.usage.cache_read.input_tokens',
      type: 'count',
      of: ({ cachedInputTokens }) => cachedInputTokens,
    },
    {
      name: 'gen_ai.usage.cache_write.input_tokens',
      type: 'count',
      of: ({ cacheWriteTokens }) => cacheWriteTokens,
    },
    {
      name: 'gen_ai.usage.reasoning.output_tokens',
      type: 'count',
      of: ({ reasoningTokens }) => reasoningTokens,
    },
    { name: 'gen_ai.conversation.id', type: 'text', of: ({ session }) => session },
    { name: 'error.type', type: 'text', of: errorType },
    { name: 'server.address', type: 'text', of: ({ upstream }) => addressOf(upstream)?.host ?? null },
    { name: 'server.port', type: 'count', of: ({ upstream }) => portOf(upstream, schemePort) },
    {
      name: 'http.response.status_code',
      type: 'count',
      of: ({ status, ttfbMs }) => (ttfbMs === null ? null : status),
    },
    {
      name: 'http.request.method',
      type: 'text',
      of: (call) => (operationOf(call) === null ? call.method : null),
    },
    { name: 'url.path', type: 'text', of: (call) => (operationOf(call) === null ? call.endpoint : null) },
    { name: 'tokenweir.call_id', type: 'id', of: ({ id }) => formatCallId(id) },
    { name: 'tokenweir.outcome', type: 'text', of: ({ outcome }) => outcome },
    { name: 'tokenweir.attempts', type: 'count', of: ({ attempts }) => attempts },
    { name: 'tokenweir.queue_ms', type: 'measure', of: ({ queueMs }) => queueMs },
    { name: 'tokenweir.retry_wait_ms', type: 'measure', of: ({ retryWaitMs }) => retryWaitMs },
    { name: 'tokenweir.overhead_ms', type: 'measure', of: ({ overheadMs }) => overheadMs },
    {
      name: 'tokenweir.cost_usd',
      type: 'measure',
      of: ({ costNanoUsd }) => (costNanoUsd === null ? null : costNanoUsd / 1e9),
    },
  ]
}

/**
 * The span of a call; null for one that has none: its trace is not sampled, it asked for no inference, or nobody knows
 * when it ended.
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

/** Null for what the conventions have no word for, such as the transcription of a recording. */
function operationOf({ callType, endpoint }: StoredCall): string | null {
  switch (callType) {
    case 'chat':
      return endpoint.endsWith('/completions') && !endpoint.endsWith('/chat/completions')
        ? 'text_completion'
        : 'chat'
    case 'embedding':
      return 'embeddings'
    case 'rerank':
      return 'rerank'
    case 'props':
    case 'other':
      return null
  }
}

/** The row has no time of the very first chunk: it often tells no more than who will speak. */
function firstChunkSeconds({ stream, ttftMs }: StoredCall): number | null {
  return stream && ttftMs !== null ? ttftMs / 1000 : null
}

function errorType({ outcome, failureCode, status }: StoredCall): string | null {
  if (!isFailed(outcome)) return null
  return failureCode === 'upstream_http' && status !== null ? String(status) : (failureCode ?? outcome)
}

/** By the end of a host's name. */
const providers: readonly (readonly [suffix: string, provider: string])[] = [
  ['openai.com', 'openai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['cognitiveservices.azure.com', 'azure.ai.openai'],
  ['ai.azure.com', 'azure.ai.inference'],
  ['anthropic.com', 'anthropic'],
  ['amazonaws.com', 'aws.bedrock'],
  ['cohere.com', 'cohere'],
  ['cohere.ai', 'cohere'],
  ['deepseek.com', 'deepseek'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['groq.com', 'groq'],
  ['mistral.ai', 'mistral_ai'],
  ['perplexity.ai', 'perplexity'],
  ['x.ai', 'x_ai'],
]

interface Address {
  readonly host: string
  readonly port: number | null
  /** In the conventions' word; the host itself if they have none. */
  readonly provider: string
}

const addressIn = remembered((upstream): Address => {
  const [, name = upstream, port] = /^(.*?)(?::(\d+))?$/.exec(upstream) ?? []
  const host = name.replace(/^\[(.*)\]$/, '$1')
  const known = providers.find(([suffix]) =>
    new RegExp(`(?:^|[.-])${suffix.replaceAll('.', '\\.')}$`).test(host),
  )
  return { host, port: port === undefined ? null : Number(port), provider: known?.[1] ?? host }
})

function addressOf(upstream: string | null): Address | null {
  return upstream === null ? null : addressIn(upstream)
}

function portOf(upstream: string | null, schemePort: number): number | null {
  const address = addressOf(upstream)
  return address === null ? null : (address.port ?? schemePort)
}

/** Drawn a few thousand at a time, as each drawing costs a microsecond. */
let drawn = ''
let drawnAt = 0

function randomHex(digits: number): string {
  if (drawnAt + digits > drawn.length) {
    drawn = randomBytes(4096).toString('hex')
    drawnAt = 0
  }
  drawnAt += digits
  return drawn.slice(drawnAt - digits, drawnAt)
}
