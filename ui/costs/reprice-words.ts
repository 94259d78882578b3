import type { RepriceDay, RepriceProgress, RepriceResult } from '../../src/api/costs.ts'
import { counted, dollars, known, percent, unknownFigure } from '../format/figures.ts'
import { sumOf } from './spend-figures.ts'

/** Costs before and after; null if they are not known. */
type CostChange = Pick<RepriceDay, 'before_usd' | 'after_usd'>

/** The change that re-pricing makes to one model. */
export interface RepricedModel extends CostChange {
  readonly model: string | null
  readonly calls: number
  readonly days: readonly RepriceDay[]
}

/** Days put together by their models, those that change most first. */
export function repricedModels(days: readonly RepriceDay[]): readonly RepricedModel[] {
  return [...Map.groupBy(days, ({ model }) => model)]
    .map(([model, own]) => ({
      model,
      calls: own.reduce((all, { calls }) => all + calls, 0),
      before_usd: sumOf(own.map(({ before_usd: usd }) => usd)),
      after_usd: sumOf(own.map(({ after_usd: usd }) => usd)),
      days: own.toSorted((one, other) => one.day.localeCompare(other.day)),
    }))
    .sort((one, other) => Math.abs(difference(other)) - Math.abs(difference(one)) || other.calls - one.calls)
}

/** In dollars more or less; what had no price counts from nothing. */
function difference({ before_usd: before, after_usd: after }: CostChange): number {
  return (after ?? 0) - (before ?? 0)
}

/** `+$3.10`, `−$0.42`, `±$0`. */
export function signedDollars(usd: number): string {
  if (Math.abs(usd) < 5e-10) return '±$0'
  return `${usd < 0 ? '−' : '+'}${dollars(Math.abs(usd))}`
}

/** `$1.20 → $1.50`; what is not known is a dash. */
export function fromTo({ before_usd: before, after_usd: after }: CostChange): string {
  return `${known(before, dollars)} → ${known(after, dollars)}`
}

/** From the first day to the last that would change: `from 12 to 21 Nov`. */
function spanWords(days: readonly RepriceDay[], dayWords: (day: string) => string): string {
  const names = days.map(({ day }) => day).sort()
  const [first, last] = [names[0], names.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? `of ${dayWords(first)}` : `from ${dayWords(first)} to ${dayWords(last)}`
}

/** Offers to price calls that had no price and have one now. */
export function offerWords(result: RepriceResult, dayWords: (day: string) => string): string | null {
  const { newly_priced: calls } = result
  if (calls === 0) return null
  const priced = result.days.filter(({ newly_priced: n }) => n > 0)
  const usd = sumOf(priced.map(difference)) ?? 0
  return `${counted(calls, 'call')} ${spanWords(priced, dayWords)} can be priced now: ${dollars(Math.max(0, usd))}.`
}

/** The consequences of applying it, to be read before. */
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

/** How far it is: `42 %`. */
export function progressShare({ done, total }: RepriceProgress): string {
  return percent(total === 0 ? 0 : Math.floor(Math.min(1, done / total) * 100) / 100)
}

/** The result of the last re-pricing. */
export function doneWords(result: RepriceResult): string {
  return result.calls === 0
    ? 'There was nothing to change.'
    : `${counted(result.calls, 'call')} priced anew: ${signedDollars(difference(result))}.`
}

/** The difference in words; a dash if neither cost is known. */
export function changeWords(change: CostChange): string {
  return change.after_usd === null && change.before_usd === null
    ? unknownFigure
    : signedDollars(difference(change))
}
