import type { OverviewBuckets, OverviewMeasure, OverviewTotals } from '../api/overview.ts'
import type { GroupFigures, MeasureFigures } from '../call/figures.ts'

/** The totals of a window: counts of all calls, times of `timed` ones. */
export function overviewTotals(all: GroupFigures, timed: GroupFigures): OverviewTotals {
  return {
    calls: all.calls,
    errors: all.errors,
    error_rate: all.error_rate,
    input_tokens: all.input_tokens,
    output_tokens: all.output_tokens,
    cached_input_tokens: all.cached_input_tokens,
    cached_share: shortened(all.cached_share),
    cache_saved_usd: all.cache_saved_usd,
    cost_usd: all.cost_usd,
    unpriced_calls: all.unpriced_calls,
    no_usage_calls: all.no_usage_calls,
    duration_ms: shortMeasure(timed.duration_ms),
    ttft_ms: shortMeasure(timed.ttft_ms),
    ttft_total_ms: shortMeasure(timed.ttft_total_ms),
    queue_ms: shortMeasure(all.queue_ms),
    output_tokens_per_s: shortMeasure(timed.output_tokens_per_s),
  }
}

/** Groups as columns, which take a third of the bytes of a list. */
export function overviewBuckets(
  startsMs: readonly number[],
  all: readonly GroupFigures[],
  timed: readonly GroupFigures[],
): OverviewBuckets {
  const column = (of: (figures: GroupFigures) => number | null): (number | null)[] =>
    timed.map((figures) => shortened(of(figures)))
  return {
    start_s: startsMs.map((startMs) => startMs / 1000),
    calls: all.map((figures) => figures.calls),
    errors: all.map((figures) => figures.errors),
    error_rate: all.map((figures) => shortened(figures.error_rate)),
    input_tokens: all.map((figures) => figures.input_tokens),
    output_tokens: all.map((figures) => figures.output_tokens),
    cached_share: all.map((figures) => shortened(figures.cached_share)),
    cost_usd: all.map((figures) => shortened(figures.cost_usd, 6)),
    duration_n: timed.map((figures) => figures.duration_ms.n),
    duration_p50_ms: column((figures) => figures.duration_ms.p50),
    duration_p95_ms: column((figures) => figures.duration_ms.p95),
    duration_p99_ms: column((figures) => figures.duration_ms.p99),
    ttft_n: timed.map((figures) => figures.ttft_ms.n),
    ttft_p50_ms: column((figures) => figures.ttft_ms.p50),
    ttft_p95_ms: column((figures) => figures.ttft_ms.p95),
    speed_n: timed.map((figures) => figures.output_tokens_per_s.n),
    speed_p50: column((figures) => figures.output_tokens_per_s.p50),
    queue_n: all.map((figures) => figures.queue_ms.n),
    queue_p95_ms: all.map((figures) => shortened(figures.queue_ms.p95)),
  }
}

function shortMeasure({ n, p50, p95, p99, max }: MeasureFigures): OverviewMeasure {
  return { n, p50: shortened(p50), p95: shortened(p95), p99: shortened(p99), max }
}

/** A value with few digits; four are enough for percentiles within 1%. */
function shortened(value: number | null, digits: number = 4): number | null {
  return value === null ? null : Number(value.toPrecision(digits))
}
