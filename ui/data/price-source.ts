import { longDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { timeQuery } from './page-range.ts'

/** The path of the prices of a range's calls; bounds in milliseconds since the Unix epoch. */
export function matchesPath(fromMs: number, toMs: number): string {
  return `/api/costs/matches?${timeQuery({ fromMs, toMs })}`
}

/** The source of a price: `LiteLLM`, `Set by you`, `Shipped with tokenweir`. */
export function sourceWords(source: string): string {
  if (source === 'user') return 'Set by you'
  if (source === 'upstream') return 'Reported by the upstream'
  if (source === 'litellm') return 'LiteLLM'
  if (source.startsWith('genai-prices')) return `Shipped with tokenweir`
  return source
}

/** When it was got: `synced 3 h ago`, `on 12 Nov`; empty where that is not known. */
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

/** The age of an instant: `just now`, `12 min ago`, `3 h ago`, `5 d ago`. */
export function agoWords(ms: number, nowMs: number): string {
  const s = (nowMs - ms) / 1000
  if (s < 60) return 'just now'
  return `${longDuration(s < 3600 ? s - (s % 60) : s < 86_400 ? s - (s % 3600) : s - (s % 86_400))} ago`
}
