import type { Usage } from './usage.ts'

/**
 * How an answer ended in the upstream's own words. For a stream that has an end mark of its own: `complete`
 * once the mark was seen, `truncated` as long as it was not, whether or not the HTTP message is complete.
 * `stream_error`: an error inside HTTP 200. `none`: any other answer.
 */
export type AnswerEnding = 'complete' | 'truncated' | 'stream_error' | 'none'

/** What was read off the newest attempt of a call; `null` for what is not known. */
export interface MeterReading {
  /** Attempt handed to the transport → first content, reasoning or tool call. */
  readonly ttftMs: number | null
  /** Dispatch → first content that is not reasoning. */
  readonly ttfoMs: number | null
  /** Time per output token after the first, as the upstream or else the stream tells it; `null` where that came bunched. */
  readonly tpotMs: number | null
  /** Chunks with content; `null` where the answer is no stream. */
  readonly chunks: number | null
  /** Percentiles of the gaps between chunks with content. */
  readonly gapP50Ms: number | null
  readonly gapP95Ms: number | null
  readonly gapMaxMs: number | null
  /** Gaps of over one second. */
  readonly stalls: number | null

  readonly usage: Usage | null
  readonly costNanoUsd: number | null
  readonly searchUnits: number | null
  readonly upstreamQueueMs: number | null
  readonly upstreamPromptMs: number | null
  readonly upstreamDecodeMs: number | null

  readonly responseModel: string | null
  readonly serviceTier: string | null
  /** Of several choices: joined by `,` in the choices' order. */
  readonly finishReason: string | null
  /** The answer's `Server` is llama.cpp. */
  readonly isLlamaCpp: boolean
  readonly upstreamRequestId: string | null
  readonly upstreamErrorCode: string | null
  /** At most 500 characters, as the upstream sent it: it may hold secrets. */
  readonly errorMessage: string | null
  readonly ending: AnswerEnding

  /** Body bytes as received, before any decoding. */
  readonly responseBytes: number
  /** Events with data, and those of them of which something had to be parsed as JSON. */
  readonly totalEvents: number
  readonly parsedEvents: number
  /** Events that reported token counts, or times per token, other than zero. */
  readonly usageEvents: number
}
