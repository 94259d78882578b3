import type { ComponentChildren, JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { PricePeriod, RateTier } from '../../src/api/costs.ts'
import { Icon } from '../design/icon.tsx'
import { unknownFigure } from '../format/figures.ts'
import { baseRates, feeOf, isByFee, isFree, rate } from './price-words.ts'
import { PriceRates } from './price-rates.tsx'

/** A price, as a row shows it. */
export interface ShownPrice {
  readonly period: Pick<PricePeriod, 'tiers' | 'service_tiers'>
  /** `LiteLLM` */
  readonly source: string
  /** `synced 3 h ago` */
  readonly date: string
  /** What else is to be said of it, in the part that is folded away. */
  readonly notes: readonly ComponentChildren[]
}

export interface PriceRowProps {
  readonly name: string
  /** Under the name, in a quieter voice. */
  readonly about: ComponentChildren
  readonly price: ShownPrice | null
  /** In place of a price. */
  readonly why?: string
  /** Whether nothing is amiss about that. */
  readonly isCalm?: boolean
  /** What its calls cost; left out where the list is not of calls. */
  readonly spent?: ComponentChildren
  readonly actions: ComponentChildren
}

/** How many columns the table has with, and without, what was spent. */
const columns = { withSpent: 7, without: 6 } as const

/** A price, or why there is none; its tiers are folded away. */
export function PriceRow({
  name,
  about,
  price,
  why,
  isCalm = false,
  spent,
  actions,
}: PriceRowProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  if (price === null) {
    return (
      <tr class={`price-row is-unpriced ${isCalm ? 'is-calm' : ''}`}>
        <th scope="row">
          <span class="price-name" title={name}>
            {name}
          </span>
          <small>{about}</small>
          <small class="price-brief price-why">{why}</small>
        </th>
        <td class="price-why" colSpan={4}>
          {why}
        </td>
        {spent !== undefined && <td class="price-spent">{spent}</td>}
        <td class="price-actions">{actions}</td>
      </tr>
    )
  }
  const { period, source, date, notes } = price
  const base = baseRates(period)
  const more = period.tiers.length - 1 + Object.keys(period.service_tiers ?? {}).length
  const free = isFree(period.tiers)
  return (
    <>
      <tr class="price-row">
        <th scope="row">
          <button
            type="button"
            class="price-open"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="right" size={14} />
            <span class="price-name" title={name}>
              {name}
            </span>
          </button>
          <small>{about}</small>
          <small class="price-brief">
            {free ? 'Free' : `${amountWords(base)}${more > 0 ? ', tiers' : ''}`} · {source}
          </small>
        </th>
        {free ? (
          <td class="price-rate" colSpan={3}>
            <span class="tag good">Free</span>
          </td>
        ) : (
          <>
            <Rate usd={base.input} more={more} fee={isByFee(base) ? feeOf(base) : undefined} />
            <Rate usd={isByFee(base) ? undefined : base.output} more={0} />
            <Rate usd={base.cache_read} more={0} class="is-more" />
          </>
        )}
        <td class="price-source">
          {source}
          <small>{date}</small>
        </td>
        {spent !== undefined && <td class="price-spent">{spent}</td>}
        <td class="price-actions">{actions}</td>
      </tr>
      {isOpen && (
        <tr class="price-details" id={id}>
          <td colSpan={spent === undefined ? columns.without : columns.withSpent}>
            <PriceRates name={name} period={period} />
            {notes.length > 0 && (
              <ul>
                {notes.map((note, at) => (
                  <li key={at}>{note}</li>
                ))}
              </ul>
            )}
          </td>
        </tr>
      )}
    </>
  )
}

interface RateProps {
  readonly usd: number | undefined
  /** Further tiers. */
  readonly more: number
  readonly fee?: number | undefined
  readonly class?: string
}

function Rate({ usd, more, fee, class: className = '' }: RateProps): JSX.Element {
  return (
    <td class={`price-rate ${className}`}>
      {fee !== undefined ? (
        <>
          {rate(fee)}
          <small>each</small>
        </>
      ) : usd === undefined ? (
        <span class="quiet">{unknownFigure}</span>
      ) : (
        rate(usd)
      )}
      {more > 0 && (
        <small title="By the length of the request, or its service tier">
          + {more} {more === 1 ? 'tier' : 'tiers'}
        </small>
      )}
    </td>
  )
}

/** For narrow windows: `$0.15 in, $0.60 out`. */
function amountWords(tier: RateTier): string {
  const { input, output } = tier
  const fee = feeOf(tier)
  if (fee !== undefined && isByFee(tier)) return `${rate(fee)} each`
  return [
    ...(input === undefined ? [] : [`${rate(input)} in`]),
    ...(output === undefined ? [] : [`${rate(output)} out`]),
  ].join(', ')
}
