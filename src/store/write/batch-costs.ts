import { startedAtMs } from '../../call/call-id.ts'
import { usageSourceCodes } from '../../call/call-fields.ts'
import type { PriceableCall } from './call-pricer.ts'
import { slotOf, type WordList } from './record-batch.ts'

/** Says if a call tells how much it used. */
export function isUsed(slots: Float64Array, base: number): boolean {
  return (
    slots[base + slotOf.usageSource] !== usageSourceCodes.none ||
    !Number.isNaN(slots[base + slotOf.searchUnits])
  )
}

/** What of a call in a batch its cost depends on. */
export function priceableAt(slots: Float64Array, base: number, words: WordList): PriceableCall {
  const count = (slot: number): number | null => {
    const value = slots[base + slot] ?? Number.NaN
    return Number.isNaN(value) ? null : value
  }
  const word = (slot: number): string | null => {
    const number = count(slot)
    return number === null ? null : words.word(number)
  }
  return {
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
}
