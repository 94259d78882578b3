import type { RepriceDay, RepriceProgress, RepriceResult } from '../../src/api/costs.ts'
import { counted, dollars, known, percent, unknownFigure } from '../format/figures.ts'

/** What re-pricing does to one model. */
export interface RepricedModel {
  readonly model: string | null
  readonly calls: number
  readonly beforeUsd: number | null
  readonly afterUsd: number | null
  readonly newlyPriced: number
  readonly days: readonly RepriceDay[]
}

/** Days put together by their models, those that change most first. */
export function repricedModels(days: readonly RepriceDay[]): readonly RepricedModel[] {
  return [...Map.groupBy(days, ({ model }) => model)]
    .map(([model, own]) => ({
      model,
      calls: sum(own.map(({ calls }) => calls)) ?? 0,
      beforeUsd: sum(own.map(({ before_usd: usd }) => usd)),
      afterUsd: sum(own.map(({ after_usd: usd }) => usd)),
      newlyPriced: sum(own.map(({ newly_priced: calls }) => calls)) ?? 0,
      days: own.toSorted((one, other) => one.day.localeCompare(other.day)),
    }))
    .sort((one, other) => Math.abs(difference(other)) - Math.abs(difference(one)) || other.calls - one.calls)
}

/** What it comes to, in dollars more or less; what had no price counts from nothing. */
export function difference({ beforeUsd, afterUsd }: Pick<RepricedModel, 'beforeUsd' | 'afterUsd'>): number {
  return (afterUsd ?? 0) - (beforeUsd ?? 0)
}

/** `+$3.10`, `−$0.42`, `±$0`. */
export function signedDollars(usd: number): string {
  if (Math.abs(usd) < 5e-10) return '±$0'
  return `${usd < 0 ? '−' : '+'}${dollars(Math.abs(usd))}`
}

/** `$1.20 → $1.50`; what is not known is a dash. */
export function fromTo(beforeUsd: number | null, afterUsd: number | null): string {
  return `${known(beforeUsd, dollars)} → ${known(afterUsd, dollars)}`
}

/** From the first day to the last that would change: `from 12 to 21 Nov`. */
export function spanWords(days: readonly RepriceDay[], dayWords: (day: string) => string): string {
  const names = days.map(({ day }) => day).sort()
  const [first, last] = [names[0], names.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? `of ${dayWords(first)}` : `from ${dayWords(first)} to ${dayWords(last)}`
}

/** What is offered, or said, once a price is there for calls that had none. */
export function offerWords(result: RepriceResult, dayWords: (day: string) => string): string | null {
  const { newly_priced: calls } = result
  if (calls === 0) return null
  const priced = result.days.filter(({ newly_priced: n }) => n > 0)
  const usd = sum(priced.map(({ before_usd: before, after_usd: after }) => (after ?? 0) - (before ?? 0))) ?? 0
  return `${counted(calls, 'call')} ${spanWords(priced, dayWords)} can be priced now: ${dollars(Math.max(0, usd))}.`
}

/** What applying it means, to be read before. */
export function consequences(result: RepriceResult): readonly string[] {
  const { calls, newly_priced: fresh, newly_unpriced: lost } = result
  const changed = calls - fresh - lost
  return [
    ...(fresh > 0 ? [`${counted(fresh, 'call')} without a cost ${fresh === 1 ? 'gets' : 'get'} one.`] : []),
    ...(changed > 0
      ? [`What ${counted(changed, 'call')} cost is replaced; what it was is kept in the database.`]
      : []),
    ...(lost > 0
      ? [
          `${counted(lost, 'call')} ${lost === 1 ? 'loses its' : 'lose their'} cost: no price is known any more.`,
        ]
      : []),
    'Figures and charts of that time change everywhere.',
    'The gateway goes on recording meanwhile.',
  ]
}

/** Whether there is anything to apply. */
export function isWorthIt({ calls }: RepriceResult): boolean {
  return calls > 0
}

/** How far it is: `42 %`. */
export function progressShare({ done, total }: RepriceProgress): string {
  return percent(total === 0 ? 0 : Math.floor(Math.min(1, done / total) * 100) / 100)
}

/** What the last re-pricing came to. */
export function doneWords({ calls, before_usd: before, after_usd: after }: RepriceResult): string {
  return calls === 0
    ? 'There was nothing to change.'
    : `${counted(calls, 'call')} priced anew: ${signedDollars((after ?? 0) - (before ?? 0))}.`
}

/** Where one model goes from and to, or why that is not told. */
export function changeWords(model: RepricedModel): string {
  return model.afterUsd === null && model.beforeUsd === null
    ? unknownFigure
    : signedDollars(difference(model))
}

function sum(values: readonly (number | null)[]): number | null {
  const told = values.filter((value) => value !== null)
  return told.length === 0 ? null : told.reduce((all, value) => all + value, 0)
}
