import type { ProviderLimit } from '../../src/api/health-report.ts'
import { count, longDuration } from '../format/figures.ts'
import type { RowState } from './row-columns.tsx'

/** The limits of a model and key at an upstream, from the provider's last answer. */
export interface LimitedUse extends Pick<ProviderLimit, 'upstream' | 'model' | 'key'> {
  readonly limits: readonly ProviderLimit[]
}

/** A smaller remaining share of a limit is shown as a warning. */
const lowShare = 0.1

/** Groups the limits by upstream, model and key, the nearest to its limit first. */
export function limitedUses(limits: readonly ProviderLimit[]): readonly LimitedUse[] {
  const groups = Map.groupBy(limits, useKey)
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group
      return first === undefined ? [] : [{ ...first, limits: group }]
    })
    .toSorted((a, b) => leastLeft(a) - leastLeft(b))
}

/** Returns a key that is equal for all limits of one upstream, model and key. */
export function useKey({ upstream, model, key }: Omit<LimitedUse, 'limits'>): string {
  return JSON.stringify([upstream, model, key])
}

/** Returns the state of a group by its remaining share. `nowMs` is the dashboard's time (ms since the Unix epoch). */
export function stateOf(use: LimitedUse, nowMs: number): RowState {
  const wait = use.limits.find(({ kind }) => kind === 'wait')
  if (wait !== undefined) {
    const details = [`retry in ${longDuration(Math.max(0, Math.ceil(untilMs(wait, nowMs) / 1000)))}`]
    return { shape: 'triangle', tone: 'warn', words: 'Refused', details }
  }
  return leastLeft(use) < lowShare
    ? { shape: 'triangle', tone: 'warn', words: 'Nearly used up', details: [] }
    : { shape: 'disc', tone: 'good', words: 'OK', details: [] }
}

/** Returns a limit as a text: `212 of 500 requests per minute left, resets in 20 s`. */
export function limitWords(provided: ProviderLimit, nowMs: number): string {
  const { kind, limit, remaining, window_s: windowS } = provided
  const per = windowS === null || windowS === 60 ? 'per minute' : `in ${longDuration(windowS)}`
  const figures = [remaining, limit].filter((figure) => figure !== null).map(count)
  const ms = untilMs(provided, nowMs)
  const words = `${figures.join(' of ')} ${kind.replace('_', ' ')} ${per}${remaining === null ? '' : ' left'}`
  const isFull = ms <= 0 || remaining === limit
  return isFull ? words : `${words}, resets in ${longDuration(Math.ceil(ms / 1000))}`
}

/** Returns the smallest remaining share of any limit, 0 to 1; 0 while the provider asks to wait. */
export function leastLeft({ limits }: LimitedUse): number {
  return Math.min(1, ...limits.map(shareLeft))
}

function shareLeft({ kind, limit, remaining }: ProviderLimit): number {
  if (kind === 'wait') return 0
  return remaining === null || limit === null ? 1 : remaining / Math.max(1, limit)
}

function untilMs({ reset_at: at }: Pick<ProviderLimit, 'reset_at'>, nowMs: number): number {
  return at === null ? 0 : Date.parse(at) - nowMs
}
