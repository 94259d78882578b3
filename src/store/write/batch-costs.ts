import { startedAtMs } from '../../call/call-id.ts'
import type { CallCost, CallPricer, PriceableCall } from './call-pricer.ts'
import { usageSourceCodes } from '../../call/call-fields.ts'
import { type CallBatch, slotOf, slotsPerCall, type WordList } from './record-batch.ts'

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
      upstream: word(slotOf.upstream),
      model: word(slotOf.model),
      responseModel: word(slotOf.responseModel),
      serviceTier: word(slotOf.serviceTier),
      inputTokens: count(slotOf.inputTokens),
      outputTokens: count(slotOf.outputTokens),
      cachedInputTokens: count(slotOf.cachedInputTokens),
      cacheWriteTokens: count(slotOf.cacheWriteTokens),
      cacheWrite1hTokens: count(slotOf.cacheWrite1hTokens),
      inputAudioTokens: count(slotOf.inputAudioTokens),
      outputAudioTokens: count(slotOf.outputAudioTokens),
      reasoningTokens: count(slotOf.reasoningTokens),
      searchUnits: count(slotOf.searchUnits),
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
  return (
    slots[base + slotOf.usageSource] !== usageSourceCodes.none ||
    !Number.isNaN(slots[base + slotOf.searchUnits])
  )
}
