import type { RowForm } from '../design/editor.tsx'
import { typedNumber } from '../format/typed-number.ts'
import { type PricedModel, hostOf, overrideName } from './price-lines.ts'
import { type RateName, isFee, plainNumber, rateNames, rateWords } from './price-words.ts'

/** In dollars: what is dearer is a slip of the pen. */
const mostUsd = 1000

/** The fields of a price. */
export type PriceField = RateName | 'billing' | 'scope' | 'since' | 'day'

const mainRates: ReadonlySet<RateName> = new Set(['input', 'output', 'cache_read'])

const sinces = [
  ['always', 'all, also earlier ones'],
  ['now', 'from now on'],
  ['day', 'from a day on'],
] as const

/** The form that sets a price of one's own, which overrides all price lists. */
export function priceForm(
  { name: model, upstream, rates, hasMore }: PricedModel,
  nowMs: number,
  dayStartMs: (day: string) => number,
): RowForm<PriceField> {
  const isFree = rates !== null && rateNames.every((name) => (rates[name] ?? 0) === 0)
  return {
    label: `Price of ${model}`,
    fields: [
      {
        name: 'billing',
        label: 'Billed',
        value: isFree ? 'free' : 'rates',
        choices: [
          ['rates', 'by these rates'],
          ['free', 'free: priced, at $0'],
        ],
      },
      ...rateNames.map((name) => ({
        name,
        label: `${rateWords[name]}, $${isFee(name) ? ' each' : ' / 1 M'}`,
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
              label: 'Of which upstream',
              value: 'one',
              choices: [
                ['one', `only ${hostOf(upstream)}`],
                ['all', 'of this name everywhere'],
              ] as const,
            },
          ]),
      {
        name: 'since',
        label: 'For which calls',
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
        'Overrides all price lists. A rate that is left empty is as the one that it belongs to: cache and audio as input or output.',
        hasMore
          ? 'The present price has tiers. Yours will have none: it holds for requests of every length.'
          : '',
        valueOf('since') === 'now' ? '' : 'What was recorded already stays as it is until you price it anew.',
      ].join(' '),
    save: (valueOf) => {
      const errors: Partial<Record<PriceField, string>> = {}
      const amounts = valueOf('billing') === 'free' ? { input: 0, output: 0 } : amountsOf(valueOf, errors)
      const since = valueOf('since')
      const fromMs = since === 'now' ? nowMs : since === 'day' ? dayStartMs(valueOf('day')) : null
      if (fromMs !== null && Number.isNaN(fromMs)) errors.day = 'A day, such as 2026-11-21.'
      if (Object.keys(errors).length > 0) return { errors }
      const name = overrideName({ upstream, model }, valueOf('scope') === 'all')
      return {
        path: `/api/costs/overrides/${encodeURIComponent(name)}`,
        body: fromMs === null ? amounts : { ...amounts, effective_from: new Date(fromMs).toISOString() },
      }
    },
  }
}

/** The rates that were typed; `errors` takes what is wrong with them. */
function amountsOf(
  valueOf: (name: RateName) => string,
  errors: Partial<Record<RateName, string>>,
): Partial<Record<RateName, number>> {
  const rates: Partial<Record<RateName, number>> = {}
  for (const name of rateNames) {
    const text = valueOf(name).trim()
    if (text === '') continue
    const value = typedNumber(text.replace(/^\$/, ''))
    if (value === null) errors[name] = 'An amount in dollars, such as 0.15.'
    else if (value > mostUsd)
      errors[name] = `At most 1\u202f000 dollars${isFee(name) ? '.' : ': is it for a million tokens?'}`
    else rates[name] = value
  }
  const hasFee = rates.per_request !== undefined || rates.per_search_unit !== undefined
  for (const name of ['input', 'output'] as const) {
    if (rates[name] !== undefined || errors[name] !== undefined) continue
    if (hasFee) rates[name] = 0
    else errors[name] = 'Needed: 0 if nothing is billed.'
  }
  return rates
}
