import type { CallType } from './call.ts'
import type { FailureCode } from './failure.ts'
import type { UsageSource } from './usage.ts'

/** How a call ended. */
export type Outcome =
  | 'ok'
  | 'upstream_error'
  | 'upstream_cut'
  | 'client_disconnected'
  | 'gateway_error'
  | 'refused'
  | 'interrupted'

/** Where a cost comes from: the upstream's own word, or the price book's entry of that source. */
export type PriceSource = string

/**
 * Everything that is kept of an ended call: exactly one per call, whatever became of it.
 * Times are milliseconds with fractions from the monotonic clock; `null` means not known, 0 means measured
 * or reported zero. The names are those of the stored columns and of `/api/query`, in camel case.
 */
export interface CallRecord {
  readonly id: number
  readonly callType: CallType
  readonly endpoint: string
  readonly method: string
  readonly stream: boolean
  /** The model asked for. */
  readonly model: string | null
  /** The first non-empty model name in the answer. */
  readonly responseModel: string | null
  readonly serviceTier: string | null
  readonly upstream: string | null
  readonly instance: string

  /** HTTP status sent to the client; 499 only where none was sent and the client left. */
  readonly status: number | null
  readonly outcome: Outcome
  readonly failureCode: FailureCode | null
  readonly upstreamErrorCode: string | null
  /** At most 500 characters, secrets masked. */
  readonly errorMessage: string | null
  readonly finishReason: string | null

  readonly attempts: number
  readonly clientRetry: number | null

  /** Head received → body read. */
  readonly receiveMs: number | null
  /** Body read → slot held. */
  readonly queueMs: number | null
  /** Waits before, and time lost in, attempts that did not answer. */
  readonly retryWaitMs: number | null
  /** Of the answering attempt: dispatch → socket ready. */
  readonly connectMs: number | null
  /** Dispatch → first byte of the response. */
  readonly ttfbMs: number | null
  /** Dispatch → first chunk with content, reasoning or a tool call. */
  readonly ttftMs: number | null
  /** Dispatch → first chunk with visible (non-reasoning) content. */
  readonly ttfoMs: number | null
  /** Head received → last byte to the client. */
  readonly durationMs: number
  /** The part of the duration that the gateway itself took. */
  readonly overheadMs: number | null

  /** Time per output token after the first. */
  readonly tpotMs: number | null
  /** Chunks with content. */
  readonly chunks: number | null
  readonly gapP50Ms: number | null
  readonly gapP95Ms: number | null
  readonly gapMaxMs: number | null
  /** Gaps between content chunks of over one second. */
  readonly stalls: number | null

  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cachedInputTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly cacheWrite1hTokens: number | null
  readonly inputAudioTokens: number | null
  readonly outputAudioTokens: number | null
  readonly reasoningTokens: number | null
  readonly totalTokens: number | null
  readonly usageSource: UsageSource

  readonly requestBytes: number
  readonly responseBytes: number
  readonly searchUnits: number | null
  readonly upstreamRequestId: string | null
  readonly upstreamQueueMs: number | null
  readonly upstreamPromptMs: number | null
  readonly upstreamDecodeMs: number | null

  readonly client: string | null
  readonly keyFingerprint: string | null
  readonly userAgent: string | null
  readonly session: string | null

  /** Nano-dollars; `null` when unpriced. What the upstream itself reported until prices exist. */
  readonly costNanoUsd: number | null
  readonly priceSource: PriceSource | null
  readonly priceKey: string | null
}

/** A client that left is nobody's failure; every other end but `ok` is. */
export function isFailed(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'client_disconnected'
}
