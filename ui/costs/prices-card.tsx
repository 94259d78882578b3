import './prices-card.css'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CostMatch } from '../../src/api/costs.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { Bounds } from '../charts/time-frame.ts'
import { reasonOf } from '../data/trouble.ts'
import { Card } from '../design/card.tsx'
import { ConfirmDialog } from '../design/confirm-dialog.tsx'
import { Icon } from '../design/icon.tsx'
import { Segments } from '../design/segments.tsx'
import { count } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { costActions } from './cost-actions.ts'
import { KnownPriceList } from './known-price-list.tsx'
import { MatchedPrices } from './matched-prices.tsx'
import { PriceDialog, type PricedModel } from './price-dialog.tsx'
import { type KnownPrice, listedMatches, priceableCalls } from './price-list.ts'
import { baseRates, hasPrice, periodAt } from './price-words.ts'
import { RepriceDialog } from './reprice-dialog.tsx'
import { offerWords } from './reprice-words.ts'
import { PricesNotes } from './prices-notes.tsx'
import { bookWords, syncWords } from './sync-words.ts'
import { useRepriceOffer } from './use-reprice-offer.ts'
import type { Prices } from './use-prices.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** Where the focus goes when somebody wants to see the prices. */
export const pricesId = 'prices'

export interface PricesCardProps {
  readonly prices: Prices
  readonly times: Times
  readonly bounds: Bounds
  readonly onRepriced: () => void
}

/** Which price each call met, where it comes from, and what can be done about it. */
export function PricesCard({ prices, times, bounds, onRepriced }: PricesCardProps): JSX.Element {
  const { address, amend } = useNavigation()
  const { costs, matches } = prices
  const [isAll, setAll] = useState(false)
  const [priced, setPriced] = useState<PricedModel | null>(null)
  const [removed, setRemoved] = useState<string | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [repriced, setRepriced] = useState<{
    readonly bounds: Bounds
    readonly onlyUnpriced: boolean
  } | null>(null)
  const now = nowMs()
  const search = address.price
  const listed = useMemo(
    () => listedMatches(matches?.matches ?? [], address.models, search),
    [matches, address.models, search],
  )
  const { found, far, isRepricing, forget } = useRepriceOffer(prices.changes, bounds, times.zone, onRepriced)
  const dayWords = (day: string): string => times.day(dayStartMs(day, times.zone === 'UTC') + 12 * 3_600_000)
  const offer = found === null ? null : offerWords(found, dayWords)
  const waiting = matches === null ? 0 : priceableCalls(matches.matches, bounds.fromMs)
  const remove = async (name: string): Promise<void> => {
    setRemoved(null)
    setTrouble(null)
    try {
      await costActions.removePrice(name)
      prices.onChanged()
    } catch (error) {
      setTrouble(reasonOf(error))
    }
  }
  const setOfMatch = ({ model, upstream, price }: CostMatch): void => {
    const known = hasPrice(price) ? price : null
    // One's own price is changed where it is kept, whichever name that is.
    const own = known !== null && Object.hasOwn(costs?.overrides ?? {}, known.key) ? known.key : null
    setPriced({
      name: own ?? model ?? '',
      upstream: own === null ? upstream : null,
      rates: known === null ? null : baseRates(known),
      hasTiers:
        known !== null && (known.tiers.length > 1 || Object.keys(known.service_tiers ?? {}).length > 0),
    })
  }
  const setOfKnown = ({ name, entry }: KnownPrice): void => {
    const period = periodAt(entry, now)
    setPriced({
      name,
      upstream: null,
      rates: period === null ? null : baseRates(period),
      hasTiers: period !== null && period.tiers.length > 1,
    })
  }
  if (costs === null) {
    return prices.trouble === null ? (
      <div class="skeleton prices-skeleton" />
    ) : (
      <section class="note bad" role="alert" id={pricesId}>
        <span>The prices cannot be had: {prices.trouble}</span>
        <button type="button" class="button small" onClick={prices.again}>
          Try again
        </button>
      </section>
    )
  }
  const known = Object.keys(costs.models).length + Object.keys(costs.overrides).length
  const told = syncWords(costs, times)
  return (
    <Card
      title="Prices"
      about={bookWords(costs, now)}
      class="prices-card"
      actions={
        <>
          <button
            type="button"
            class="button bare small"
            onClick={() => setRepriced({ bounds, onlyUnpriced: waiting > 0 })}
          >
            Price past calls anew…
          </button>
          <button type="button" class="button small" aria-disabled={prices.isSyncing} onClick={prices.sync}>
            <Icon name="refresh" size={14} />
            {prices.isSyncing ? 'Syncing…' : 'Sync prices'}
          </button>
        </>
      }
    >
      <PricesNotes
        costs={costs}
        prices={prices}
        trouble={trouble}
        times={times}
        isRepricing={isRepricing}
        offer={offer}
        waiting={waiting}
        onPreview={() => setRepriced({ bounds: offer === null ? bounds : far, onlyUnpriced: true })}
      />
      <div class="prices-tools" id={pricesId} tabIndex={-1}>
        <Segments
          label="Which prices"
          choices={[
            {
              choice: 'met',
              words: matches === null ? 'Met by calls' : `Met by calls, ${count(matches.matches.length)}`,
            },
            { choice: 'all', words: `All known, ${count(known)}` },
          ]}
          chosen={isAll ? 'all' : 'met'}
          onChoose={(choice) => setAll(choice === 'all')}
        />
        <label class="prices-search">
          <Icon name="search" size={14} />
          <span class="aside">Search prices</span>
          <input
            class="field"
            type="search"
            placeholder="Model, upstream or key"
            value={search}
            onInput={({ currentTarget }) => amend({ price: currentTarget.value })}
          />
        </label>
      </div>
      {isAll ? (
        <KnownPriceList
          key={search}
          costs={costs}
          search={search}
          times={times}
          nowMs={now}
          onSet={setOfKnown}
          onRemove={setRemoved}
        />
      ) : matches === null ? (
        prices.trouble === null ? (
          <div class="skeleton prices-skeleton" />
        ) : (
          <p class="note bad" role="alert">
            What the calls met cannot be told: {prices.trouble}
          </p>
        )
      ) : listed.length === 0 ? (
        <p class="prices-none quiet">
          {search === ''
            ? 'No call of this time has met a price.'
            : `None that calls of this time met has “${search}” in its name.`}
          {search !== '' && (
            <button type="button" class="button bare small" onClick={() => setAll(true)}>
              Search all known prices
            </button>
          )}
        </p>
      ) : (
        <MatchedPrices
          matches={listed}
          overrides={costs.overrides}
          times={times}
          nowMs={now}
          isSyncing={prices.isSyncing}
          onSync={prices.sync}
          onSet={setOfMatch}
          onRemove={setRemoved}
        />
      )}
      {!isAll && matches !== null && matches.counted_from !== null && (
        <p class="prices-foot quiet">
          Calls and what they cost are counted from {times.full(Date.parse(matches.counted_from))} on: earlier
          ones were folded into sums, or are too many to be counted one by one.
        </p>
      )}
      {told !== null && <p class="prices-foot quiet">{told}</p>}
      {priced !== null && (
        <PriceDialog
          model={priced}
          dayStartMs={(day) => dayStartMs(day, times.zone === 'UTC')}
          onDone={prices.onChanged}
          onClose={() => setPriced(null)}
        />
      )}
      {removed !== null && (
        <ConfirmDialog
          title={`Remove your price of ${removed}?`}
          yes="Remove"
          points={[
            'From now on its calls cost what a price list says, or are unpriced.',
            'What was recorded already keeps its cost.',
          ]}
          onYes={() => void remove(removed)}
          onNo={() => setRemoved(null)}
        />
      )}
      {repriced !== null && (
        <RepriceDialog
          question={{
            ...repriced.bounds,
            onlyUnpriced: repriced.onlyUnpriced,
            model: null,
            zone: times.zone,
          }}
          spanWords={times.between(repriced.bounds.fromMs, repriced.bounds.toMs)}
          dayWords={dayWords}
          onDone={() => {
            // Over before it was seen to be under way.
            forget()
            onRepriced()
          }}
          onClose={() => setRepriced(null)}
        />
      )}
    </Card>
  )
}

/** Where a day of the calendar begins, by the reader's clock or in UTC; NaN for none. */
function dayStartMs(day: string, utc: boolean): number {
  return Date.parse(`${day}T00:00:00${utc ? 'Z' : ''}`)
}
