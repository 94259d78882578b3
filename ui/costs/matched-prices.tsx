import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { CostMatch, PriceEntry } from '../../src/api/costs.ts'
import { AddressLink } from '../data/navigation.tsx'
import { count, counted, dollars, known } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { PriceRow, type ShownPrice } from './price-row.tsx'
import { sourceDate, sourceWords } from '../data/price-source.ts'
import { answeredBy, hasPrice, whyWords } from './price-words.ts'
import { PriceTable } from './price-table.tsx'

const rowsAtFirst = 30

export interface MatchedPricesProps {
  readonly matches: readonly CostMatch[]
  readonly overrides: Readonly<Record<string, PriceEntry>>
  readonly times: Times
  readonly nowMs: number
  readonly isSyncing: boolean
  readonly onSync: () => void
  readonly onSet: (match: CostMatch) => void
  readonly onRemove: (name: string) => void
}

/** The prices that calls met; first the models that have none. */
export function MatchedPrices(props: MatchedPricesProps): JSX.Element {
  const { matches } = props
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? matches : matches.slice(0, rowsAtFirst)
  return (
    <>
      <PriceTable caption="Prices that the calls met" hasSpent>
        {shown.map((match) => (
          <Row
            key={JSON.stringify([match.upstream, match.model, match.response_model])}
            match={match}
            {...props}
          />
        ))}
      </PriceTable>
      {matches.length > rowsAtFirst && (
        <button type="button" class="button bare small" onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Only the first ${rowsAtFirst}` : `Show all ${count(matches.length)}`}
        </button>
      )}
    </>
  )
}

function Row({
  match,
  overrides,
  times,
  nowMs,
  isSyncing,
  onSync,
  onSet,
  onRemove,
}: MatchedPricesProps & { readonly match: CostMatch }): JSX.Element {
  const { model, upstream, price, unpriced_calls: unpriced, calls, cost_usd: usd } = match
  const answered = answeredBy(match)
  const name = model ?? 'No model named'
  const isOwn = hasPrice(price) && Object.hasOwn(overrides, price.key)
  const shown: ShownPrice | null = hasPrice(price)
    ? {
        period: price,
        source: sourceWords(price.source),
        date: sourceDate(price.source, price.updated_at, times, nowMs),
        notes: [
          <>
            Found under <code>{price.key}</code>
            {isOwn ? ', your own price' : ''}
          </>,
          ...(price.effective_from === null ? [] : [sinceWords(price.effective_from, times)]),
          ...(answered === null ? [] : [<>Answered as {answered}</>]),
        ],
      }
    : null
  return (
    <PriceRow
      name={name}
      about={
        <>
          {upstream ?? 'unknown upstream'}
          {answered !== null && <> · answered as {answered}</>}
        </>
      }
      price={shown}
      {...(hasPrice(price)
        ? {}
        : { why: whyWords(price.none, usd !== null && usd > 0), isCalm: price.none === 'local' })}
      spent={
        <>
          {model === null ? (
            known(usd, dollars)
          ) : (
            <AddressLink
              class="spent-link"
              to={{ view: 'calls', sort: 'cost', models: [model], by: 'model', price: '' }}
            >
              {known(usd, dollars)}
            </AddressLink>
          )}
          <small>
            {unpriced > 0 && (hasPrice(price) || usd !== null)
              ? `+ ${count(unpriced)} unpriced`
              : counted(calls, 'call')}
          </small>
        </>
      }
      actions={
        model === null ? null : hasPrice(price) ? (
          <>
            {isOwn && (
              <button type="button" class="button bare small" onClick={() => onRemove(price.key)}>
                Remove<span class="aside"> your price of {name}</span>
              </button>
            )}
            <button type="button" class="button bare small" onClick={() => onSet(match)}>
              Change<span class="aside"> the price of {name}</span>
            </button>
          </>
        ) : (
          <>
            {price.none === 'no_entry' && unpriced > 0 && (
              <button type="button" class="button bare small" aria-disabled={isSyncing} onClick={onSync}>
                Sync<span class="aside"> prices</span>
              </button>
            )}
            <button type="button" class="button small" onClick={() => onSet(match)}>
              Set price<span class="aside"> of {name}</span>
            </button>
          </>
        )
      }
    />
  )
}

function sinceWords(from: string, times: Times): string {
  const ms = Date.parse(from)
  return Number.isNaN(ms) ? '' : `In force since ${times.full(ms)}`
}
