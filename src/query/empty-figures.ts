import type { GroupFigures, MeasureFigures } from '../call/call-question.ts'

const noValues: MeasureFigures = { n: 0, avg: null, p50: null, p90: null, p95: null, p99: null, max: null }

/** What is told of no calls at all. */
export const emptyFigures: GroupFigures = {
  calls: 0,
  errors: 0,
  error_rate: null,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
  cost_usd: null,
  unpriced_calls: 0,
  duration_ms: noValues,
  ttft_ms: noValues,
  queue_ms: noValues,
  tpot_ms: noValues,
  output_tokens_per_s: noValues,
}
