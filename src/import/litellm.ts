import type { StoredCall } from '../call/call-record.ts'
import { isText } from '../lib/message-shape.ts'
import * as read from './field-values.ts'
import { type Fields, requiredInstant, textIn } from './field-values.ts'
import { endOf, foreignCall, hostOf, nanoUsd, tpotOf } from './foreign-call.ts'

/** Paths by LiteLLM's call types. An asynchronous type has a leading `a`, as in `acompletion`, which is left out here. */
const endpoints: Readonly<Record<string, string>> = {
  completion: '/v1/chat/completions',
  text_completion: '/v1/completions',
  embedding: '/v1/embeddings',
  rerank: '/v1/rerank',
  responses: '/v1/responses',
  anthropic_messages: '/v1/messages',
  generate_content: '/v1beta/models:generateContent',
  moderation: '/v1/moderations',
  image_generation: '/v1/images/generations',
  transcription: '/v1/audio/transcriptions',
  speech: '/v1/audio/speech',
}
const agentTag = 'User-Agent: '

/**
 * A row of `LiteLLM_SpendLogs`, by the schema of LiteLLM: https://github.com/BerriAI/litellm/blob/main/schema.prisma.
 * Keys, prompts and answers are not read. Throws `FieldError`.
 */
export function litellmCall(fields: Fields): StoredCall {
  const startedAtMs = requiredInstant(fields, 'startTime')
  const endedAtMs = requiredInstant(fields, 'endTime')
  const firstAtMs = read.instantIn(fields, 'completionStartTime')
  const metadata = read.objectIn(fields, 'metadata')
  const usage = read.objectIn(metadata, 'usage_object')
  const more = read.objectIn(metadata, 'additional_usage_values')
  const error = read.objectIn(metadata, 'error_information')
  const isFailed = [textIn(fields, 'status'), textIn(metadata, 'status')].includes('failure')
  const status = isFailed ? (read.countIn(numeric(error), 'error_code') ?? null) : 200
  const type = textIn(fields, 'call_type') ?? ''
  const requestId = textIn(fields, 'request_id')
  const inputTokens = read.countIn(fields, 'prompt_tokens')
  const outputTokens = read.countIn(fields, 'completion_tokens')
  const isKnown = (inputTokens ?? 0) !== 0 || (outputTokens ?? 0) !== 0
  // An answer without a stream begins and ends at once.
  const isStream = firstAtMs !== null && firstAtMs > startedAtMs && firstAtMs < endedAtMs
  const [agents, tags] = tagsOf(read.jsonIn(fields, 'request_tags'))
  const cost = nanoUsd(read.numberIn(fields, 'spend'))
  const [team, user] = [textIn(fields, 'team_id'), textIn(fields, 'end_user')]
  return foreignCall({
    source: 'litellm',
    startedAtMs,
    endpoint: endpoints[type] ?? endpoints[type.replace(/^a/, '')] ?? type,
    upstreamRequestId: requestId,
    model: textIn(fields, 'model_group') ?? textIn(fields, 'model'),
    responseModel: textIn(fields, 'model'),
    upstream: hostOf(textIn(fields, 'api_base')),
    client: textIn(metadata, 'user_api_key_alias') ?? textIn(fields, 'user'),
    userAgent: agents,
    session: textIn(fields, 'session_id'),
    sessionSource: textIn(fields, 'session_id') === null ? null : 'session_id',
    tags: [...namedTag('team', team), ...namedTag('user', user), ...tags],
    ...endOf(status, isFailed),
    upstreamErrorCode: textIn(error, 'error_class'),
    errorMessage: textIn(error, 'error_message'),
    stream: isStream,
    ttftMs: isStream ? firstAtMs - startedAtMs : null,
    durationMs: read.numberIn(fields, 'request_duration_ms') ?? Math.max(0, endedAtMs - startedAtMs),
    tpotMs: isStream ? tpotOf(outputTokens, firstAtMs, endedAtMs) : null,
    ...(isKnown ? { inputTokens, outputTokens, totalTokens: read.countIn(fields, 'total_tokens') } : {}),
    cachedInputTokens:
      firstCount(usage, more, 'cache_read_input_tokens') ??
      read.countIn(read.objectIn(usage, 'prompt_tokens_details'), 'cached_tokens'),
    cacheWriteTokens: firstCount(usage, more, 'cache_creation_input_tokens'),
    reasoningTokens: read.countIn(read.objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens'),
    ...(cost === null ? {} : { costNanoUsd: cost, priceSource: 'litellm spend' }),
  })
}

function firstCount(first: Fields, second: Fields, name: string): number | null {
  return read.countIn(first, name) ?? read.countIn(second, name)
}

/** The error without its code, unless that is a number. */
function numeric(error: Fields): Fields {
  return /^\d{3}$/.test(String(error['error_code'])) ? error : {}
}

function namedTag(key: string, value: string | null): readonly (readonly [string, string])[] {
  return value === null ? [] : [[key, value]]
}

/** The client's program, which LiteLLM puts among the tags, and the other tags. */
function tagsOf(value: unknown): readonly [string | null, readonly (readonly [string, string])[]] {
  const texts = Array.isArray(value) ? value.filter(isText) : []
  const agents = texts.filter((text) => text.startsWith(agentTag)).map((text) => text.slice(agentTag.length))
  const tags = texts
    .filter((text) => !text.startsWith(agentTag))
    .map((text): readonly [string, string] => {
      const [key = '', ...rest] = text.split(':')
      return rest.length === 0 ? ['tag', text] : [key, rest.join(':')]
    })
  return [agents.toSorted((a, b) => b.length - a.length)[0] ?? null, tags]
}
