import type { CostMatches, Rates } from '../../src/api/costs.ts'
import type { Overview } from '../../src/api/overview.ts'
import { count, longDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { type QuestionTime, timeQuery } from './page-range.ts'

/** The names of the rates, in the page's order. */
export const rateWords = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cached input',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write, 1 hour',
  reasoning: 'Reasoning',
  input_audio: 'Audio input',
  output_audio: 'Audio output',
  image: 'Tool images',
  per_request: 'Per request',
  per_search_unit: 'Per search unit',
  per_second: 'Per second of audio',
} as const satisfies Readonly<Record<keyof Rates, string>>

/** Returns the API path for the prices of a range's calls. */
export function matchesPath(time: QuestionTime): string {
  return `/api/costs/matches?${timeQuery(time)}`
}

/** Returns the models whose unpriced calls all ran on the user's own machines, so that nobody bills them. */
export function freeModels(matches: CostMatches['matches']): ReadonlySet<string | null> {
  const unpriced = matches.filter(({ unpriced_calls: calls }) => calls > 0)
  const billed = unpriced.filter(({ price }) => 'key' in price || price.none !== 'local')
  return new Set(unpriced.map(({ model }) => model)).difference(new Set(billed.map(({ model }) => model)))
}

/** The unpriced calls that nobody bills. */
export interface FreeCalls {
  readonly models: ReadonlySet<string | null>
  readonly calls: number
}

/**
 * Returns the calls of an overview that nobody bills. The overview may leave out models, and the matches of prices
 * ignore filters, so the smaller of both counts of the other unpriced calls is right.
 */
export function freeCalls(overview: Overview | null, answer: CostMatches | null): FreeCalls {
  const matches = answer?.matches ?? []
  const models = freeModels(matches)
  const isFree = ({ model }: { readonly model: string | null }): boolean => models.has(model)
  const sum = (groups: readonly { readonly unpriced_calls: number }[]): number =>
    groups.reduce((all, { unpriced_calls: calls }) => all + calls, 0)
  const listed = sum((overview?.models ?? []).filter(isFree))
  if (overview === null || answer === null || answer.counted_from !== null) return { models, calls: listed }
  const billed = sum(matches.filter((match) => !isFree(match)))
  return { models, calls: Math.max(listed, overview.totals.unpriced_calls - billed) }
}

/** Returns the number of calls without a price in words, of which nobody bills `free`: `3 unpriced`, `2 self-hosted`. */
export function unpricedWords(calls: number, free: number): string {
  return calls > free ? `${count(calls - free)} unpriced` : `${count(calls)} self-hosted`
}

/** Returns the source of a price in words: `LiteLLM`, `Set by you`, `Shipped with tokenweir`. */
export function sourceWords(source: string): string {
  if (source === 'user') return 'Set by you'
  if (source === 'upstream') return 'Reported by the upstream'
  if (source === 'litellm') return 'LiteLLM'
  if (source.startsWith('genai-prices')) return `Shipped with tokenweir`
  return source
}

/** Returns the date of a price: `synced 3 h ago`, `on 12 Nov`. Empty if unknown. */
export function sourceDate(
  source: string,
  updatedAt: string | null | undefined,
  times: Times,
  nowMs: number,
): string {
  const ms = updatedAt === null || updatedAt === undefined ? Number.NaN : Date.parse(updatedAt)
  if (Number.isNaN(ms)) return ''
  if (source === 'user') return `on ${times.day(ms)}`
  if (source.startsWith('genai-prices')) return `prices of ${times.day(ms)}`
  return `synced ${agoWords(ms, nowMs)}`
}

/** Returns the age of an instant: `just now`, `12 min ago`, `3 h ago`, `5 d ago`. */
export function agoWords(ms: number, nowMs: number): string {
  const s = (nowMs - ms) / 1000
  if (s < 60) return 'just now'
  return `${longDuration(s < 3600 ? s - (s % 60) : s < 86_400 ? s - (s % 3600) : s - (s % 86_400))} ago`
}
