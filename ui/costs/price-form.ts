import type { Rates } from '../../src/api/costs.ts'
import { typedNumber } from '../format/typed-number.ts'
import { type RateName, isFee, plainNumber, rateNames } from './price-words.ts'

/** In dollars: what is dearer is a slip of the pen. */
const mostUsd = 1000

/** The texts in the fields of a price; a field that is left out is empty. */
export interface PriceDraft {
  readonly rates: Readonly<Partial<Record<RateName, string>>>
  readonly isFree: boolean
  readonly isForAll: boolean
  readonly since: 'always' | 'now' | 'day'
  /** `2026-11-21`, read if the price is to hold since a day. */
  readonly day: string
}

/** The body of a price that is set. */
export type PriceBody = Rates & { readonly effective_from?: string }

/** Errors by the field that they are in. */
export type DraftTrouble = Readonly<Partial<Record<RateName | 'day', string>>>

/** A draft that shows the rates of a price. */
export function draftOf(rates: Rates | null): PriceDraft {
  const written = rateNames.flatMap((name) => {
    const value = rates?.[name]
    return value === undefined ? [] : [[name, plainNumber(value)] as const]
  })
  return {
    rates: Object.fromEntries(written),
    isFree: rates !== null && rateNames.every((name) => (rates[name] ?? 0) === 0),
    isForAll: false,
    since: rates === null ? 'always' : 'now',
    day: '',
  }
}

/** The body to send, or the errors by field. */
export function bodyOf(
  draft: PriceDraft,
  nowMs: number,
  dayStartMs: (day: string) => number,
): { readonly body: PriceBody } | { readonly trouble: DraftTrouble } {
  const trouble: Partial<Record<RateName | 'day', string>> = {}
  const rates: Partial<Record<RateName, number>> = draft.isFree ? { input: 0, output: 0 } : {}
  if (!draft.isFree) {
    for (const name of rateNames) {
      const text = (draft.rates[name] ?? '').trim()
      if (text === '') continue
      const value = typedNumber(text.replace(/^\$/, ''))
      if (value === null) trouble[name] = 'An amount in dollars, such as 0.15.'
      else if (value > mostUsd)
        trouble[name] = `At most 1\u202f000 dollars${isFee(name) ? '.' : ': is it for a million tokens?'}`
      else rates[name] = value
    }
    const hasFee = rates.per_request !== undefined || rates.per_search_unit !== undefined
    for (const name of ['input', 'output'] as const) {
      if (rates[name] !== undefined || trouble[name] !== undefined) continue
      if (hasFee) rates[name] = 0
      else trouble[name] = 'Needed: 0 if nothing is billed.'
    }
  }
  const fromMs = draft.since === 'now' ? nowMs : draft.since === 'day' ? dayStartMs(draft.day) : null
  if (fromMs !== null && Number.isNaN(fromMs)) trouble.day = 'A day, such as 2026-11-21.'
  if (Object.keys(trouble).length > 0) return { trouble }
  return { body: fromMs === null ? rates : { ...rates, effective_from: new Date(fromMs).toISOString() } }
}
