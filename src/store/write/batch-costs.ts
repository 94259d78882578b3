import { startedAtMs } from '../../call/call-id.ts'
import { usageSourceCodes } from '../../call/call-fields.ts'
import type { PriceableCall } from './call-pricer.ts'
import { indexOf, type WordList } from './record-batch.ts'

/** Says if a call tells how much it used. */
export function isUsed(numbers: Float64Array, base: number): boolean {
  return (
    numbers[base + indexOf.usageSource] !== usageSourceCodes.none ||
    !Number.isNaN(numbers[base + indexOf.searchUnits])
  )
}

/** What of a call in a batch its cost depends on. */
export function priceableAt(numbers: Float64Array, base: number, words: WordList): PriceableCall {
  const count = (index: number): number | null => {
    const value = numbers[base + index] ?? Number.NaN
    return Number.isNaN(value) ? null : value
  }
  const word = (index: number): string | null => {
    const number = count(index)
    return number === null ? null : words.word(number)
  }
  return {
    startedAtMs: startedAtMs(numbers[base] ?? 0),
    upstream: word(indexOf.upstream),
    model: word(indexOf.model),
    responseModel: word(indexOf.responseModel),
    serviceTier: word(indexOf.serviceTier),
    inputTokens: count(indexOf.inputTokens),
    outputTokens: count(indexOf.outputTokens),
    cachedInputTokens: count(indexOf.cachedInputTokens),
    cacheWriteTokens: count(indexOf.cacheWriteTokens),
    cacheWrite1hTokens: count(indexOf.cacheWrite1hTokens),
    inputAudioTokens: count(indexOf.inputAudioTokens),
    outputAudioTokens: count(indexOf.outputAudioTokens),
    reasoningTokens: count(indexOf.reasoningTokens),
    searchUnits: count(indexOf.searchUnits),
  }
}
