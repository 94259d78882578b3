import type { CallFilter } from './call-filter.ts'
import type { CallAnswer, CallQuestion } from './call-question.ts'
import type { CallType } from './call.ts'
import type { Outcome } from './call-record.ts'

/** By what the longest lists are cut: the newest, or the largest of a column. */
export type CallSort = 'started_at' | 'duration' | 'ttft' | 'cost'

/** A page of a list, newest first unless sorted otherwise. */
export interface CallPage {
  readonly limit: number
  /** Only calls with a smaller id: the id of the last call of the page before. */
  readonly beforeId?: number
  /** Other than `started_at`: the largest first, calls without a value left out, no further page. */
  readonly sort?: CallSort
}

/** Calls in the order in which they ended, for those who follow along. */
export interface EndedCalls {
  readonly calls: readonly CallJson[]
  /** Pass it as `afterSeq` the next time. */
  readonly lastSeq: number
}

/**
 * A call as `/api/query`, `calls --json` and the export show it: times in milliseconds with fractions,
 * `started_at` in ISO 8601 UTC, `null` for what is not known.
 */
export interface CallJson {
  readonly id: string
  readonly started_at: string
  readonly call_type: CallType
  readonly endpoint: string
  readonly method: string
  readonly stream: boolean
  readonly model: string | null
  readonly response_model: string | null
  readonly service_tier: string | null
  readonly upstream: string | null
  readonly instance: string
  readonly status: number | null
  readonly outcome: Outcome
  readonly failed: boolean
  readonly failure_code: string | null
  readonly upstream_error_code: string | null
  readonly error_message: string | null
  readonly finish_reason: string | null
  readonly attempts: number
  readonly client_retry: number | null
  readonly receive_ms: number | null
  readonly queue_ms: number | null
  readonly retry_wait_ms: number | null
  readonly connect_ms: number | null
  readonly ttfb_ms: number | null
  readonly ttft_ms: number | null
  /** From the request's head to the first content: receive + queue + retry wait + `ttft_ms`. */
  readonly ttft_total_ms: number | null
  readonly ttfo_ms: number | null
  readonly duration_ms: number | null
  readonly overhead_ms: number | null
  readonly tpot_ms: number | null
  /** 1000 ÷ `tpot_ms`. */
  readonly output_tokens_per_s: number | null
  readonly chunks: number | null
  readonly gap_p50_ms: number | null
  readonly gap_p95_ms: number | null
  readonly gap_max_ms: number | null
  readonly stalls: number | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_input_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly cache_write_1h_tokens: number | null
  readonly input_audio_tokens: number | null
  readonly output_audio_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly total_tokens: number | null
  readonly usage_source: string
  readonly request_bytes: number
  readonly response_bytes: number
  readonly search_units: number | null
  readonly upstream_request_id: string | null
  readonly upstream_queue_ms: number | null
  readonly upstream_prompt_ms: number | null
  readonly upstream_decode_ms: number | null
  readonly client: string | null
  readonly key_fingerprint: string | null
  readonly user_agent: string | null
  readonly session: string | null
  readonly cost_usd: number | null
  readonly price_source: string | null
  readonly price_key: string | null
}

/**
 * The questions asked of recorded calls. What any store must answer is stated in its shared tests. Whoever opens
 * a reader may give it an `IsOver`: every method that may read many rows throws `QueryTooSlow` soon after it
 * says so.
 */
export interface CallReader {
  /** Newest first. */
  list(filter: CallFilter, page: CallPage): readonly CallJson[]
  /** The calls that were written after `afterSeq`, oldest first, at most `limit`. */
  endedSince(afterSeq: number, filter: CallFilter, limit: number): EndedCalls
  /** One call by its id as a number. */
  call(id: number): CallJson | null
  /**
   * Totals and percentiles, all of one instant. Edges before `foldedUntilMs` count from the start of their
   * quarter hour; throws `FoldedRange` where two of them are then the same, or where the sums of folded
   * calls do not tell what is asked.
   */
  aggregate(question: CallQuestion): CallAnswer
  /** Every model that was asked for and every type of call, in order, for the choices of a filter. */
  choices(): { readonly models: readonly string[]; readonly types: readonly CallType[] }
  /** When the first call began and the last one did, in milliseconds since the Unix epoch; `null` without calls. */
  extent(): { readonly firstMs: number; readonly lastMs: number } | null
  /** Calls before this instant, a whole quarter hour, were folded into sums; `null` where none were. */
  foldedUntilMs(): number | null
  /** The highest `seq`, 0 when there is no call: where a follower starts. */
  lastSeq(): number
  /** Answers to several questions that are asked in it are of one instant. */
  inOneInstant<Answer>(ask: () => Answer): Answer
  close(): void
}
