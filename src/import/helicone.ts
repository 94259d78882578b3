import type { StoredCall } from '../call/call-record.ts'
import { isText } from '../lib/message-shape.ts'
import * as read from './field-values.ts'
import { type Fields, requiredInstant, textIn } from './field-values.ts'
import { endOf, foreignCall, hostOf, nanoUsd, tpotOf } from './foreign-call.ts'

const sessionProperty = 'Helicone-Session-Id'

/**
 * A request of `npx @helicone/export`, as JSONL, JSON or CSV: the members of its `HeliconeRequest`, and the columns of
 * its CSV (https://github.com/Helicone/helicone, examples/export). Prompts and answers are not looked at. Throws
 * `FieldError`.
 */
export function heliconeCall(fields: Fields): StoredCall {
  const startedAtMs = requiredInstant(fields, 'request_created_at')
  const endedAtMs = read.instantIn(fields, 'response_created_at')
  const status = read.countIn(fields, 'response_status')
  const requestId = textIn(fields, 'request_id') ?? textIn(fields, 'response_id')
  const properties = Object.entries(read.objectIn(fields, 'request_properties'))
  const session = properties.find(([name]) => name === sessionProperty)?.[1]
  const target = textIn(fields, 'target_url') ?? textIn(fields, 'request_path') ?? '/v1/chat/completions'
  const isUrl = target.includes('://')
  const told = read.durationIn(fields, 'delay_ms') ?? read.durationIn(fields, 'latency')
  const durationMs = told ?? (endedAtMs === null ? 0 : Math.max(0, endedAtMs - startedAtMs))
  const firstMs = read.durationIn(fields, 'time_to_first_token')
  const isStream = firstMs !== null && firstMs > 0 && firstMs < durationMs
  const outputTokens = read.countIn(fields, 'completion_tokens')
  const cost = nanoUsd(read.numberIn(fields, 'costUSD') ?? read.numberIn(fields, 'cost'))
  const model = textIn(fields, 'request_model') ?? textIn(fields, 'model')
  return foreignCall({
    source: 'helicone',
    startedAtMs,
    identity: requestId ?? JSON.stringify([startedAtMs, endedAtMs, model, durationMs]),
    endpoint: (isUrl ? URL.parse(target)?.pathname : target) ?? '/',
    upstream: isUrl ? hostOf(target) : null,
    upstreamRequestId: requestId,
    model: model ?? textIn(fields, 'response_model'),
    responseModel: textIn(fields, 'response_model'),
    client: textIn(fields, 'request_user_id') ?? textIn(fields, 'helicone_user'),
    session: isText(session) ? session : null,
    sessionSource: isText(session) ? 'helicone-session-id' : null,
    tags: properties.flatMap(([name, value]) =>
      name.startsWith('Helicone-') || !isText(value) ? [] : [[name, value] as const],
    ),
    // What is below 100 is Helicone's own: no answer came.
    ...endOf(
      status === null || status < 100 ? null : status,
      status === null || status < 100 || status >= 400,
    ),
    durationMs,
    stream: isStream,
    ttftMs: isStream ? firstMs : null,
    tpotMs: isStream ? tpotOf(outputTokens, firstMs, durationMs) : null,
    inputTokens: read.countIn(fields, 'prompt_tokens'),
    outputTokens,
    totalTokens: read.countIn(fields, 'total_tokens'),
    cachedInputTokens: read.countIn(fields, 'prompt_cache_read_tokens'),
    cacheWriteTokens: read.countIn(fields, 'prompt_cache_write_tokens'),
    inputAudioTokens: read.countIn(fields, 'prompt_audio_tokens'),
    outputAudioTokens: read.countIn(fields, 'completion_audio_tokens'),
    ...(cost === null ? {} : { costNanoUsd: cost, priceSource: 'helicone cost' }),
  })
}
