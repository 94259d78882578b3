import type { StoredCall } from '../call/call-record.ts'
import * as read from './field-values.ts'
import { type Fields, requiredInstant, textIn } from './field-values.ts'
import { endOf, foreignCall } from './foreign-call.ts'

/**
 * An entry of llama-swap's `GET /api/metrics`: `ActivityLogEntry` of
 * https://github.com/mostlygeek/llama-swap/blob/main/internal/server/metrics.go; before that was nested, its figures
 * stood beside the rest. Its time is that of the end; -1 is not known. Throws `FieldError`.
 */
export function llamaSwapCall(fields: Fields): StoredCall {
  const endedAtMs = requiredInstant(fields, 'timestamp')
  const durationMs = read.durationIn(fields, 'duration_ms') ?? 0
  const tokens = 'tokens' in fields ? read.objectIn(fields, 'tokens') : fields
  const [fresh, output, cached] = ['input_tokens', 'output_tokens', 'cache_tokens'].map((name) =>
    read.countIn(tokens, name),
  )
  const [promptSpeed, speed] = ['prompt_per_second', 'tokens_per_second'].map((name) =>
    read.durationIn(tokens, name),
  )
  const isTimed = (speed ?? 0) > 0
  const isKnown = (fresh ?? 0) + (output ?? 0) > 0
  // llama.cpp's own count leaves out what was cached.
  const inputTokens = isTimed ? (fresh ?? 0) + (cached ?? 0) : (fresh ?? null)
  const status = read.countIn(fields, 'resp_status_code') ?? 200
  return foreignCall({
    source: 'llama-swap',
    startedAtMs: endedAtMs - durationMs,
    identity: JSON.stringify([textIn(fields, 'timestamp'), textIn(fields, 'id'), textIn(fields, 'model')]),
    endpoint: textIn(fields, 'req_path') ?? '/v1/chat/completions',
    model: textIn(fields, 'model'),
    ...endOf(status, status >= 400),
    stream: textIn(fields, 'resp_content_type')?.includes('event-stream') ?? false,
    durationMs,
    ...(isKnown
      ? {
          inputTokens,
          outputTokens: output ?? null,
          cachedInputTokens: cached ?? null,
          usageSource: isTimed ? ('timings' as const) : ('usage' as const),
        }
      : {}),
    ...(isTimed
      ? {
          tpotMs: 1000 / (speed ?? 1),
          upstreamDecodeMs: (1000 * (output ?? 0)) / (speed ?? 1),
          upstreamPromptMs: (promptSpeed ?? 0) > 0 ? (1000 * (fresh ?? 0)) / (promptSpeed ?? 1) : null,
        }
      : {}),
  })
}
