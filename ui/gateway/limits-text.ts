import type { ProviderLimit } from '../../src/api/health-report.ts'
import { count, longDuration } from '../format/figures.ts'
import type { RowState } from './row-columns.tsx'

/** The limits of one model and key at an upstream, from its provider's last answer. */
export interface LimitedUse extends Pick<ProviderLimit, 'upstream' | 'model' | 'key'> {
  readonly limits: readonly ProviderLimit[]
}

/** Below this share of a limit, it is worth a look. */
const lowShare = 0.1

/** The uses of which limits are known; those whose limits are nearest come first. */
export function limitedUses(limits: readonly ProviderLimit[]): readonly LimitedUse[] {
  const groups = Map.groupBy(limits, useKey)
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group
      return first === undefined ? [] : [{ ...first, limits: group }]
    })
    .toSorted((a, b) => leastLeft(a) - leastLeft(b))
}

/** Equal for the limits of one use. */
export function useKey({ upstream, model, key }: Omit<LimitedUse, 'limits'>): string {
  return JSON.stringify([upstream, model, key])
}

/** The state of a use, by its distance to the limits. `nowMs`: the dashboard's time, in ms since the Unix epoch. */
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

/** A limit: "212 of 500 requests a minute left", and the time of its reset. */
export function limitWords(provided: ProviderLimit, nowMs: number): string {
  const { kind, limit, remaining, window_s: windowS } = provided
  const per = windowS === null || windowS === 60 ? 'per minute' : `in ${longDuration(windowS)}`
  const figures = [remaining, limit].filter((figure) => figure !== null).map(count)
  const ms = untilMs(provided, nowMs)
  const words = `${figures.join(' of ')} ${kind.replace('_', ' ')} ${per}${remaining === null ? '' : ' left'}`
  const isFull = ms <= 0 || remaining === limit
  return isFull ? words : `${words}, resets in ${longDuration(Math.ceil(ms / 1000))}`
}

/** The smallest share that is left of a limit, 0 to 1; 0 while the provider asks to wait. */
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
