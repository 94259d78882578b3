import type { RecordFields } from './call-fields.ts'

/**
 * Token counts that the upstream reported, normalised: cached input, cache writes and input audio are parts
 * of `inputTokens`; reasoning and output audio are parts of `outputTokens`.
 */
export interface Usage {
  readonly inputTokens: number
  /** `null` where the stream broke off before it was told. */
  readonly outputTokens: number | null
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly cacheWrite1hTokens: number
  readonly inputAudioTokens: number | null
  readonly outputAudioTokens: number | null
  readonly reasoningTokens: number
  readonly totalTokens: number | null
  readonly source: Exclude<RecordFields['usageSource'], 'none'>
}
