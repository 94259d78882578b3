import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Costs } from '../../src/api/costs.ts'
import { count } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { type KnownPrice, knownPrices } from './price-list.ts'
import { PriceRow } from './price-row.tsx'
import { PriceTable } from './price-table.tsx'
import { sourceDate, sourceWords } from '../data/price-source.ts'
import { periodAt } from './price-words.ts'

/** As many as one looks through; the others are found by their names. */
const rowsAtOnce = 50

export interface KnownPriceListProps {
  readonly costs: Costs
  readonly search: string
  readonly times: Times
  readonly nowMs: number
  readonly onSet: (price: KnownPrice) => void
  readonly onRemove: (name: string) => void
}

/** All prices that are known, whether a call met them or not. */
export function KnownPriceList({
  costs,
  search,
  times,
  nowMs,
  onSet,
  onRemove,
}: KnownPriceListProps): JSX.Element {
  const [most, setMost] = useState(rowsAtOnce)
  const found = useMemo(() => knownPrices(costs, search), [costs, search])
  if (found.length === 0) {
    return (
      <p class="prices-none quiet">
        {search === '' ? 'No price is known yet.' : `No price has “${search}” in its name.`}
      </p>
    )
  }
  return (
    <>
      <PriceTable caption="All known prices" hasSpent={false}>
        {found.slice(0, most).map((price) => (
          <Row
            key={`${price.isOverride} ${price.name}`}
            price={price}
            times={times}
            nowMs={nowMs}
            onSet={onSet}
            onRemove={onRemove}
          />
        ))}
      </PriceTable>
      {found.length > most && (
        <button type="button" class="button bare small" onClick={() => setMost(most + 4 * rowsAtOnce)}>
          {count(found.length - most)} more
        </button>
      )}
    </>
  )
}

interface RowProps extends Pick<KnownPriceListProps, 'times' | 'nowMs' | 'onSet' | 'onRemove'> {
  readonly price: KnownPrice
}

function Row({ price, times, nowMs, onSet, onRemove }: RowProps): JSX.Element {
  const { name, entry, isOverride } = price
  const { provider, mode, source, updated_at: updatedAt, removed_at: removedAt, prices } = entry
  const period = periodAt(entry, nowMs) ?? prices[0] ?? null
  return (
    <PriceRow
      name={name}
      about={[provider, mode].filter((word) => word !== undefined).join(' · ')}
      price={
        period === null
          ? null
          : {
              period,
              source: sourceWords(period.source ?? source),
              date: sourceDate(period.source ?? source, updatedAt, times, nowMs),
              notes: [
                ...(period.effective_from === null
                  ? []
                  : [`In force since ${times.full(Date.parse(period.effective_from))}`]),
                ...(removedAt === undefined
                  ? []
                  : [`No longer listed since ${times.day(Date.parse(removedAt))}; its last price goes on`]),
                ...(prices.length > 1
                  ? [`${count(prices.length)} prices over time; calls keep that of their day`]
                  : []),
              ],
            }
      }
      actions={
        isOverride ? (
          <>
            <button type="button" class="button bare small" onClick={() => onRemove(name)}>
              Remove<span class="aside"> your price of {name}</span>
            </button>
            <button type="button" class="button bare small" onClick={() => onSet(price)}>
              Change<span class="aside"> the price of {name}</span>
            </button>
          </>
        ) : null
      }
    />
  )
}
