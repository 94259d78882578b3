import type { CostPart, Rates } from '../api/costs.ts'
import type { StoredCall } from '../call/call-record.ts'
import { mostCostNanoUsd } from '../call/fields/plausible-amounts.ts'
import { type PicoTier, tierFor } from './price-tiers.ts'

/**
 * The usage in a call's record; null means unknown. Cached and written tokens and input audio are parts of
 * the input, and reasoning and output audio of the output. Image tokens are part of neither.
 */
export const usageNames = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'inputAudioTokens',
  'outputAudioTokens',
  'reasoningTokens',
  'searchUnits',
  'audioMs',
  'imageTokens',
] as const satisfies readonly (keyof StoredCall)[]

export type MeteredUsage = Pick<StoredCall, (typeof usageNames)[number]>

/**
 * The cost of a usage in whole pico-dollars: a number if that is exact, else a bigint. Null if nothing was
 * metered, or something without a rate. A part that is larger than its whole is cut to it. Never throws.
 */
export function costPicoUsd(
  usage: MeteredUsage,
  price: { readonly tiers: readonly PicoTier[] },
): number | bigint | null {
  const positions = positionsOf(usage, price)
  return positions === null ? null : sum(positions)
}

/** The parts of a cost in whole nano-dollars, rounded so that they add up to the cost; null without a cost. */
export function costParts(
  usage: MeteredUsage,
  price: { readonly tiers: readonly PicoTier[] },
): readonly CostPart[] | null {
  const cost = costNanoUsd(usage, price)
  if (cost === null) return null
  const billed = (positionsOf(usage, price) ?? []).filter(([count, rate]) => count > 0 && rate !== 0)
  const upTo = billed.map((_, at) => nanoOf(sum(billed.slice(0, at + 1)) ?? 0))
  return billed.map(([count, , rate], at) => ({
    rate,
    count,
    usd: ((upTo[at] ?? 0) - (upTo[at - 1] ?? 0)) / 1e9,
  }))
}

function positionsOf(
  usage: MeteredUsage,
  { tiers }: { readonly tiers: readonly PicoTier[] },
): readonly Position[] | null {
  const { inputTokens, outputTokens, searchUnits, audioMs } = usage
  if ([inputTokens, outputTokens, searchUnits, audioMs].every((count) => count === null)) return null
  const input = wholeCount(inputTokens)
  const rates = tierFor(tiers, input)?.rates
  if (rates === undefined) return null
  // Unknown tokens are free only if their rate is zero.
  if (inputTokens === null && rates.input !== null && rates.input > 0) return null
  if (outputTokens === null && rates.output !== null && rates.output > 0) return null
  if (searchUnits === null && rates.per_search_unit !== 0) return null
  if (audioMs === null && rates.per_second !== 0) return null

  const cached = part(usage.cachedInputTokens, input)
  const written = part(usage.cacheWriteTokens, input - cached)
  const written1h = part(usage.cacheWrite1hTokens, written)
  const audioIn = part(usage.inputAudioTokens, input - cached - written)
  const output = wholeCount(outputTokens)
  const reasoning = part(usage.reasoningTokens, output)
  const audioOut = part(usage.outputAudioTokens, output - reasoning)
  return [
    [input - cached - written - audioIn, rates.input, 'input'],
    [cached, rates.cache_read, 'cache_read'],
    [written - written1h, rates.cache_write, 'cache_write'],
    [written1h, rates.cache_write_1h, 'cache_write_1h'],
    [audioIn, rates.input_audio, 'input_audio'],
    [output - reasoning - audioOut, rates.output, 'output'],
    [reasoning, rates.reasoning, 'reasoning'],
    [audioOut, rates.output_audio, 'output_audio'],
    [wholeCount(usage.imageTokens), rates.image, 'image'],
    [1, rates.per_request, 'per_request'],
    [wholeCount(searchUnits), rates.per_search_unit, 'per_search_unit'],
    [wholeCount(audioMs), rates.per_second, 'per_second'],
  ]
}

/** The cost in nano-dollars, as it is stored. Only this function rounds, halves up. */
export function costNanoUsd(
  usage: MeteredUsage,
  price: { readonly tiers: readonly PicoTier[] },
): number | null {
  const pico = costPicoUsd(usage, price)
  if (pico === null) return null
  const nano = nanoOf(pico)
  return nano <= mostCostNanoUsd ? nano : null
}

/**
 * The additional cost of a usage without a cache, with all input at the input rate. Negative if the cache was
 * written at a higher rate and hardly read; null without the rates.
 */
export function cacheSavedNanoUsd(
  usage: MeteredUsage,
  price: { readonly tiers: readonly PicoTier[] },
  cost: number,
): number | null {
  if (!(usage.cachedInputTokens ?? 0) && !(usage.cacheWriteTokens ?? 0)) return 0
  const plain = costNanoUsd({ ...usage, cachedInputTokens: 0, cacheWriteTokens: 0 }, price)
  return plain === null ? null : plain - cost
}

type Position = readonly [count: number, rate: number | null, name: keyof Rates]

function nanoOf(pico: number | bigint): number {
  return typeof pico === 'number' ? Math.round(pico / 1000) : Number((pico + 500n) / 1000n)
}

/**
 * The sum of the positions; null if a rate is missing. No part is negative, so a safe integer as the sum
 * means that all partial sums were exact.
 */
function sum(positions: readonly Position[]): number | bigint | null {
  let total = 0
  for (const [count, rate] of positions) {
    if (count === 0) continue
    if (rate === null) return null
    total += count * rate
  }
  if (Number.isSafeInteger(total)) return total
  return positions.reduce((all, [count, rate]) => all + BigInt(count) * BigInt(rate ?? 0), 0n)
}

function part(count: number | null, most: number): number {
  return Math.min(wholeCount(count), most)
}

function wholeCount(count: number | null): number {
  if (count === null || !(count > 0)) return 0
  return Math.trunc(Math.min(count, Number.MAX_SAFE_INTEGER))
}
