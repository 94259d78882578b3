import type { StoredCall } from '../call/call-record.ts'
import * as read from './field-values.ts'
import { FieldError, type Fields, requiredInstant, textIn } from './field-values.ts'
import { endOf, foreignCall, hostOf, namedCallType } from './foreign-call.ts'

/** The span of time that the older proxy's `db_compress.py` adds up into one row, from the row's time on. */
const bucketMs = 14 * 24 * 3_600_000
const mostOfOne = 1_000_000

/**
 * The calls of a row of the older proxy's `api_calls`: one call, or all calls of a summed row. Calls of a summed
 * row get equal parts of the tokens, their mean times, and the tag `summed:14d`. Their starts are spread over the
 * two weeks. A row's time is the end of its call; for a summed row, the beginning of the two weeks. Throws
 * `FieldError`.
 */
export function* olderProxyCalls(fields: Fields): Generator<StoredCall> {
  const calls = Math.max(1, read.countIn(fields, 'calls_count') ?? 1)
  if (calls > mostOfOne) throw new FieldError('calls_count', `${calls} calls in one row are too many`)
  const atMs = requiredInstant(fields, 'timestamp')
  const [inputTokens, outputTokens] = ['input_tokens', 'output_tokens'].map((name) =>
    read.countIn(fields, name),
  )
  const status = read.countIn(fields, 'status_code')
  const error = textIn(fields, 'error')
  const durationMs = read.numberIn(fields, 'total_ms') ?? 0
  const route = textIn(fields, 'route_name')
  const isSum = calls > 1
  for (let index = 0; index < calls; index++) {
    const part = (total: number | null | undefined): number | null =>
      total === null || total === undefined ? null : partOf(total, calls, index)
    yield foreignCall({
      source: 'api-calls',
      startedAtMs: isSum ? atMs + Math.floor((bucketMs / calls) * index) : atMs - durationMs,
      endpoint: textIn(fields, 'endpoint') ?? '/',
      callType: namedCallType(textIn(fields, 'call_type')) ?? 'other',
      model: textIn(fields, 'model'),
      upstream: hostOf(textIn(fields, 'upstream_url')),
      ...endOf(status, error !== null || (status ?? 200) >= 400),
      errorMessage: error,
      durationMs,
      ttfbMs: read.numberIn(fields, 'ttfb_ms'),
      attempts: 1 + (read.countIn(fields, 'retries_attempted') ?? 0),
      inputTokens: part(inputTokens),
      outputTokens: part(outputTokens),
      tags: [
        ...(isSum ? ([['summed', '14d']] as const) : []),
        ...(route === null ? [] : [['route', route] as const]),
      ],
    })
  }
}

/** A part of a whole number. All `parts` add up to `total`. */
function partOf(total: number, parts: number, index: number): number {
  return Math.floor((total * (index + 1)) / parts) - Math.floor((total * index) / parts)
}
