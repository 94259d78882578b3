import { startedAtMs } from '../../call/call-id.ts'
import type { CallCost, CallPricer, PriceableCall } from './call-pricer.ts'
import { usageSourceCodes } from '../sqlite/call-codes.ts'
import { type CallBatch, slotOf, slotsPerCall, type WordList } from './record-batch.ts'

const usageSource = slotOf('usage_source_id')
const searchUnits = slotOf('search_units')
const words = {
  upstream: slotOf('upstream_id'),
  model: slotOf('model_id'),
  responseModel: slotOf('response_model_id'),
  serviceTier: slotOf('service_tier_id'),
} as const
const counts = {
  inputTokens: slotOf('input_tokens'),
  outputTokens: slotOf('output_tokens'),
  cachedInputTokens: slotOf('cached_input_tokens'),
  cacheWriteTokens: slotOf('cache_write_tokens'),
  cacheWrite1hTokens: slotOf('cache_write_1h_tokens'),
  inputAudioTokens: slotOf('input_audio_tokens'),
  outputAudioTokens: slotOf('output_audio_tokens'),
  reasoningTokens: slotOf('reasoning_tokens'),
} as const

/** What calls of a batch cost by the prices in force when they began. */
export class BatchCosts {
  readonly #words: WordList
  readonly #pricer: CallPricer

  constructor(words: WordList, pricer: CallPricer) {
    this.#words = words
    this.#pricer = pricer
  }

  /** Whether any call of it says how much it used. */
  mayCost({ slots }: CallBatch): boolean {
    for (let base = 0; base < slots.length; base += slotsPerCall) if (isUsed(slots, base)) return true
    return false
  }

  /** Null where the call says nothing of how much it used, or no price is known. */
  costAt(slots: Float64Array, base: number): CallCost | null {
    if (!isUsed(slots, base)) return null
    const count = (slot: number): number | null => {
      const value = slots[base + slot] ?? Number.NaN
      return Number.isNaN(value) ? null : value
    }
    const word = (slot: number): string | null => {
      const number = count(slot)
      return number === null ? null : this.#words.word(number)
    }
    const call: PriceableCall = {
      startedAtMs: startedAtMs(slots[base] ?? 0),
      upstream: word(words.upstream),
      model: word(words.model),
      responseModel: word(words.responseModel),
      serviceTier: word(words.serviceTier),
      inputTokens: count(counts.inputTokens),
      outputTokens: count(counts.outputTokens),
      cachedInputTokens: count(counts.cachedInputTokens),
      cacheWriteTokens: count(counts.cacheWriteTokens),
      cacheWrite1hTokens: count(counts.cacheWrite1hTokens),
      inputAudioTokens: count(counts.inputAudioTokens),
      outputAudioTokens: count(counts.outputAudioTokens),
      reasoningTokens: count(counts.reasoningTokens),
      searchUnits: count(searchUnits),
    }
    try {
      return this.#pricer.costOf(call)
    } catch {
      // A fault of the prices must not cost us the row.
      return null
    }
  }
}

function isUsed(slots: Float64Array, base: number): boolean {
  return slots[base + usageSource] !== usageSourceCodes.none || !Number.isNaN(slots[base + searchUnits])
}
