import type { Rates } from '../../src/api/costs.ts'
import { longDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'

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
