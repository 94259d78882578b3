import {
  baseRates,
  hostOf,
  isFee,
  isFree,
  moreTiers,
  overrideName,
  plainNumber,
  rateNames,
  type PricedModel,
  type RateName,
} from './prices.ts'
import type { Costs } from '../../src/api/costs.ts'
import type { RepriceDay, RepriceProgress, RepriceResult } from '../../src/api/database-job.ts'
import { agoWords, rateWords, sourceWords } from '../data/price-source.ts'
import type { RowForm } from '../design/table/editor.tsx'
import { count, counted, dollars, orDash, percent, unknownFigure } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { typedNumber } from '../format/typed-number.ts'
import { sumOf } from './spend-figures.ts'

/** The highest accepted price in USD. A higher price is a typing error. */
const mostUsd = 1000

/** The names of the form's fields. */
export type PriceField = RateName | 'billing' | 'scope' | 'since' | 'day'

const mainRates: ReadonlySet<RateName> = new Set(['input', 'output', 'cache_read'])

const sinces = [
  ['always', 'all calls, including past ones'],
  ['now', 'from now on'],
  ['day', 'from a date'],
] as const

/** Returns the form that sets the user's own price, which overrides all price lists. */
export function priceForm(
  { name: model, upstream, isOwn, price }: PricedModel,
  nowMs: number,
  dayStartMs: (day: string) => number,
): RowForm<PriceField> {
  const rates = price && baseRates(price)
  return {
    label: `Price of ${model}`,
    fields: [
      {
        name: 'billing',
        label: 'Billed',
        value: rates !== null && isFree([rates]) ? 'free' : 'rates',
        choices: [
          ['rates', 'at these rates'],
          ['free', 'free ($0)'],
        ],
      },
      ...rateNames.map((name) => ({
        name,
        label: `${rateWords[name]}, $${isFee(name) ? ' each' : ' / 1M'}`,
        value: rates?.[name] === undefined ? '' : plainNumber(rates[name]),
        isNumber: true,
        isMore: !mainRates.has(name),
        isShown: (valueOf: (name: PriceField) => string) => valueOf('billing') === 'rates',
      })),
      ...(upstream === null
        ? []
        : [
            {
              name: 'scope' as const,
              label: 'Upstream',
              value: 'one',
              choices: [
                ['one', `${hostOf(upstream)} only`],
                ['all', 'every upstream'],
              ] as const,
            },
          ]),
      {
        name: 'since',
        label: 'Applies to',
        value: rates === null ? 'always' : 'now',
        choices: sinces,
      },
      {
        name: 'day',
        label: 'First day',
        value: '',
        isDay: true,
        isShown: (valueOf) => valueOf('since') === 'day',
      },
    ],
    note: (valueOf) =>
      [
        'Overrides all price lists. Empty cache and audio rates use the input or output rate.',
        price !== null && moreTiers(price) > 0
          ? 'The current price has tiers by request length; yours applies to every length.'
          : '',
        valueOf('since') === 'now' ? '' : 'Recorded costs do not change until you recalculate them.',
      ].join(' '),
    ...(isOwn && {
      remove: {
        path: `/api/costs/overrides/${encodeURIComponent(model)}`,
        question: {
          title: `Remove your price of ${model}?`,
          yes: 'Remove',
          points: ['New calls will use a price list, or be unpriced.', 'Recorded costs do not change.'],
        },
      },
    }),
    save: (valueOf) => {
      const errors: Partial<Record<PriceField, string>> = {}
      const amounts = valueOf('billing') === 'free' ? { input: 0, output: 0 } : amountsOf(valueOf, errors)
      const since = valueOf('since')
      const fromMs = since === 'now' ? nowMs : since === 'day' ? dayStartMs(valueOf('day')) : null
      if (fromMs !== null && Number.isNaN(fromMs)) errors.day = 'Enter a date, such as 2026-11-21.'
      if (Object.keys(errors).length > 0) return { errors }
      const name = overrideName({ upstream, model }, valueOf('scope') === 'all')
      return {
        path: `/api/costs/overrides/${encodeURIComponent(name)}`,
        body: fromMs === null ? amounts : { ...amounts, effective_from: new Date(fromMs).toISOString() },
      }
    },
  }
}

/** Returns the typed rates, and adds errors to `errors`. */
function amountsOf(
  valueOf: (name: RateName) => string,
  errors: Partial<Record<RateName, string>>,
): Partial<Record<RateName, number>> {
  const rates: Partial<Record<RateName, number>> = {}
  for (const name of rateNames) {
    const text = valueOf(name).trim()
    if (text === '') continue
    const value = typedNumber(text.replace(/^\$/, ''))
    if (value === null) errors[name] = 'Enter an amount in dollars, such as 0.15.'
    else if (value > mostUsd)
      errors[name] = `Enter at most 1,000 dollars${isFee(name) ? '.' : ' per million tokens.'}`
    else rates[name] = value
  }
  const hasFee = rateNames.some((name) => isFee(name) && rates[name] !== undefined)
  for (const name of ['input', 'output'] as const) {
    if (rates[name] !== undefined || errors[name] !== undefined) continue
    if (hasFee) rates[name] = 0
    else errors[name] = 'Required: enter 0 if free.'
  }
  return rates
}

/** Returns a line on the number and age of the known prices. */
export function bookWords({ models, overrides, source, synced_at: syncedAt }: Costs, nowMs: number): string {
  const priceCount = Object.keys(models).length
  const overrideCount = Object.keys(overrides).length
  const ms = syncedAt === null ? Number.NaN : Date.parse(syncedAt)
  return [
    priceCount === 0 ? 'no price list' : counted(priceCount, 'price'),
    ...(overrideCount === 0 ? [] : [`${count(overrideCount)} of your own`]),
    Number.isNaN(ms)
      ? priceCount === 0
        ? 'never synced'
        : 'as shipped, never synced'
      : `${source === null ? '' : `${sourceWords(source.name)}, `}synced ${agoWords(ms, nowMs)}`,
  ].join(' · ')
}

/** Returns the changes of the last sync as a text; null if it failed or never ran. */
export function syncWords({ sync, source, synced_at: syncedAt }: Costs, times: Times): string | null {
  if (syncedAt === null || sync.state === 'running' || sync.last_error !== null) return null
  const { added, changed, removed } = sync
  const what = [
    ...(added > 0 ? [`${count(added)} added`] : []),
    ...(changed > 0 ? [`${count(changed)} changed`] : []),
    ...(removed > 0 ? [`${count(removed)} no longer listed`] : []),
  ]
  const rejected = source?.rejected ?? 0
  return [
    `Last sync ${times.dayAndClock(Date.parse(syncedAt))}${times.suffix}${fromWords(source?.url ?? null)}: ${what.length === 0 ? 'no changes' : what.join(', ')}.`,
    ...(rejected > 0
      ? [
          `${counted(rejected, 'entry', 'entries')} in the list skipped: no token price, or an implausible one.`,
        ]
      : []),
  ].join(' ')
}

/** Returns the message of a failed sync; null if the last sync succeeded. */
export function syncFailure({ sync, synced_at: syncedAt }: Costs, times: Times): string | null {
  if (sync.last_error === null || sync.state === 'running') return null
  const oldPrices =
    syncedAt === null
      ? 'Existing prices'
      : `Prices from ${times.dayAndClock(Date.parse(syncedAt))}${times.suffix}`
  return `Price sync failed: ${withPoint(sync.last_error)} ${oldPrices} are unchanged.`
}

/** Returns the message of an invalid price file; null if the file is valid. */
export function problemWords({ problem }: Costs): string | null {
  if (problem === null) return null
  const { message, line, column } = problem
  const place =
    line === null ? '' : ` Line ${count(line)}${column === null ? '' : `, column ${count(column)}`}.`
  return `${withPoint(message)}${place} The last valid file stays in force.`
}

function fromWords(url: string | null): string {
  if (url === null) return ''
  if (!/^https?:/.test(url)) return ` from ${url}`
  return URL.canParse(url) ? ` from ${new URL(url).host}` : ''
}

function withPoint(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** The costs before and after; null if unknown. */
type CostChange = Pick<RepriceDay, 'before_usd' | 'after_usd'>

/** The change of one model's cost. */
export interface RepricedModel extends CostChange {
  readonly model: string | null
  readonly calls: number
  readonly days: readonly RepriceDay[]
}

/** Groups days by model, the largest change first. */
export function repricedModels(days: readonly RepriceDay[]): readonly RepricedModel[] {
  return [...Map.groupBy(days, ({ model }) => model)]
    .map(([model, changes]) => ({
      model,
      calls: changes.reduce((all, { calls }) => all + calls, 0),
      before_usd: sumOf(changes.map(({ before_usd: usd }) => usd)),
      after_usd: sumOf(changes.map(({ after_usd: usd }) => usd)),
      days: changes.toSorted((a, b) => a.day.localeCompare(b.day)),
    }))
    .sort((a, b) => Math.abs(difference(b)) - Math.abs(difference(a)) || b.calls - a.calls)
}

/** Returns the change in USD; an unknown cost counts as 0. */
function difference({ before_usd: before, after_usd: after }: CostChange): number {
  return (after ?? 0) - (before ?? 0)
}

/** Returns an amount with its sign: `+$3.10`, `−$0.42`, `±$0`. */
export function signedDollars(usd: number): string {
  if (Math.abs(usd) < 5e-10) return '±$0'
  return `${usd < 0 ? '−' : '+'}${dollars(Math.abs(usd))}`
}

/** Returns the costs before and after: `$1.20 → $1.50`. An unknown cost is a dash. */
export function fromTo({ before_usd: before, after_usd: after }: CostChange): string {
  return `${orDash(before, dollars)} → ${orDash(after, dollars)}`
}

/** Returns the first and last day that would change: `from 12 to 21 Nov`. */
function spanWords(days: readonly RepriceDay[], dayWords: (day: string) => string): string {
  const names = days.map(({ day }) => day).sort()
  const [first, last] = [names[0], names.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? `on ${dayWords(first)}` : `from ${dayWords(first)} to ${dayWords(last)}`
}

/**
 * Returns the offer to price calls that have a price now, or another price than before. Null if nothing would
 * change.
 */
export function offerWords(result: RepriceResult, dayWords: (day: string) => string): string | null {
  const { newly_priced: calls } = result
  if (calls === 0) {
    const change = signedDollars(difference(result))
    if (result.calls === 0 || change === '±$0') return null
    return `At current prices, the cost of ${counted(result.calls, 'call')} in this range would change by ${change}.`
  }
  const priced = result.days.filter(({ newly_priced: n }) => n > 0)
  const usd = sumOf(priced.map(difference)) ?? 0
  return `${counted(calls, 'call')} ${spanWords(priced, dayWords)} can now be priced: ${dollars(Math.max(0, usd))}.`
}

/** Returns the consequences of a recalculation, which the reader sees before it. */
export function consequences(result: RepriceResult): readonly string[] {
  const { calls, newly_priced: fresh, newly_unpriced: lost } = result
  const changed = calls - fresh - lost
  return [
    ...(fresh > 0 ? [`${counted(fresh, 'call')} without a cost will get one.`] : []),
    ...(changed > 0
      ? [`The cost of ${counted(changed, 'call')} will be replaced; old costs are not kept.`]
      : []),
    ...(lost > 0
      ? [`${counted(lost, 'call')} will lose ${lost === 1 ? 'its' : 'their'} cost: the price is gone.`]
      : []),
    'Figures and charts of that period change everywhere.',
    'The gateway keeps recording meanwhile.',
  ]
}

/** Returns the progress as a percentage: `42%`. */
export function progressShare({ done, total }: RepriceProgress): string {
  return percent(total === 0 ? 0 : Math.floor(Math.min(1, done / total) * 100) / 100)
}

/** Returns the result of the last recalculation as a text. */
export function doneWords(result: RepriceResult): string {
  return result.calls === 0
    ? 'Nothing to change.'
    : `${counted(result.calls, 'call')} recalculated: ${signedDollars(difference(result))}.`
}

/** Returns the change in USD with its sign; a dash if neither cost is known. */
export function changeWords(change: CostChange): string {
  return change.after_usd === null && change.before_usd === null
    ? unknownFigure
    : signedDollars(difference(change))
}
