/** Gauges that untrusted clients may also see. */
export const openGauges = {
  tokenweir_slots_max: 'Calls that may be in flight at once.',
  tokenweir_slots_active: 'Calls in flight.',
  tokenweir_queue_length: 'Calls that wait for a slot.',
  tokenweir_budget_limit_tokens: 'Token budget of any 24 hours.',
  tokenweir_budget_used_tokens: 'Tokens used in the last 24 hours.',
} as const

/** Gauges of the thread that serves calls, with the usual names of Node programs. */
export const loopGauges = {
  nodejs_eventloop_lag_mean_seconds: 'Mean delay of the event loop since the last scrape.',
  nodejs_eventloop_lag_p99_seconds: 'Its 99th percentile.',
  nodejs_eventloop_lag_max_seconds: 'The longest.',
  nodejs_heap_size_used_bytes: 'Heap in use.',
  nodejs_heap_size_total_bytes: 'Heap.',
  nodejs_external_memory_bytes: 'Memory outside the heap, buffers among it.',
} as const

/** Counters of the process. */
export const processCounters = {
  nodejs_eventloop_active_seconds_total: 'Time in which the event loop was at work.',
  tokenweir_retries_429_total: 'Calls tried again after a 429 of the upstream.',
  tokenweir_telemetry_dropped_total: 'Records of calls that were lost.',
  tokenweir_spans_sent_total: 'Spans that the receiver took.',
  tokenweir_spans_dropped_total: 'Spans that were lost, or that it refused.',
} as const

type FigureName = keyof typeof openGauges | keyof typeof loopGauges | keyof typeof processCounters

/** The figures that the thread of calls sends to the writer's thread for a scrape. */
export interface ScrapeQuestion {
  /** False for untrusted clients, who get only slots and budget, as in `/health`. */
  readonly full: boolean
  /** True for OpenMetrics in place of the text format 0.0.4. */
  readonly isOpenMetrics: boolean
  readonly values: Readonly<Record<FigureName, number>>
  /** The codes of the warnings of `/health`. */
  readonly warnings: readonly string[]
  /** Limits of providers, at most some hundreds. */
  readonly limits: readonly {
    readonly labels: Readonly<Record<LimitLabel, string>>
    readonly limit: number | null
    readonly remaining: number | null
  }[]
}

export const limitLabels = ['upstream', 'model', 'key', 'kind', 'window_s'] as const
type LimitLabel = (typeof limitLabels)[number]
