import { useMemo, useState } from 'preact/hooks'
import type { Costs } from '../../src/api/costs.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { isFiltered } from '../data/page-address.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { EditableTable } from '../design/table/editable-table.tsx'
import { Banner } from '../design/banner.tsx'
import { SearchField } from '../design/form/search-field.tsx'
import { Segments } from '../design/form/segments.tsx'
import { OrderSelect } from '../design/table/order-select.tsx'
import { count, counted } from '../format/figures.ts'
import {
  bookWords,
  offerWords,
  priceForm,
  problemWords,
  progressShare,
  syncFailure,
  syncWords,
} from './price-changes.ts'
import { knownLines, listedMatches, matchedLine, priceableCalls } from './prices.ts'
import {
  PriceDetails,
  nameColumn,
  orderWords,
  orderWordsOfAll,
  priceColumns,
  spentColumn,
  usualOrder,
} from './price-columns.tsx'
import { RepriceDialog, type RepriceDialogProps, useRepriceOffer } from './reprice-dialog.tsx'
import type { Prices } from './use-costs.ts'

/** The id of the element that a link to the prices focuses. */
export const pricesId = 'prices'

export interface PricesCardProps {
  readonly prices: Prices
  readonly bounds: Bounds
  /** True if a part of the range is rolled up. */
  readonly isFolded: boolean
  readonly onRepriced: () => void
}

/** The number of rows shown at first. Search finds the others. */
const rowsAtFirst = 50

/** The prices of a range's calls, or all prices. Users can set and sync prices, and recalculate costs. */
export function PricesCard({ prices, bounds, isFolded, onRepriced }: PricesCardProps) {
  const { address, go, replace } = useNavigation()
  const times = useTimes()
  const { costs, matches } = prices
  const [isAll, setAll] = useState(false)
  const [dialog, setDialog] = useState<Omit<RepriceDialogProps['question'], 'zone'> | null>(null)
  const search = address.price
  const clock = { times, nowMs: nowMs(), fromMs: bounds.fromMs }
  const lines = useMemo(
    () =>
      costs === null
        ? []
        : isAll
          ? knownLines(costs, search, clock)
          : listedMatches(matches?.matches ?? [], address.models, search).map((match) =>
              matchedLine(match, costs, clock),
            ),
    [costs, matches, isAll, address.models, search, times, bounds.fromMs],
  )
  const { priceOrder, priceRising } = address
  // The list of all prices has no calls, and so no order by their cost.
  const order = isAll && priceOrder === 'spent' ? null : priceOrder
  const { preview, isLooking, isRepricing, forget } = useRepriceOffer(
    prices.changes,
    bounds,
    times.zone,
    onRepriced,
  )
  if (costs === null) return <Awaited what="the prices" {...prices} height="18rem" />
  const offer = preview === null ? null : offerWords(preview.result, (day) => times.namedDay(day))
  const waiting = matches === null ? 0 : priceableCalls(matches.matches, bounds.fromMs)
  const syncNote = syncWords(costs, times)
  const knownCount = Object.keys(costs.models).length + Object.keys(costs.overrides).length
  const close = (): void => setDialog(null)
  const empty =
    lines.length > 0 ? null : isAll ? (
      <p class="nothing-here quiet">{search === '' ? 'No prices yet.' : `No prices match “${search}”.`}</p>
    ) : matches === null ? (
      <Awaited what="the prices that the calls used" {...prices} height="18rem" />
    ) : (
      <p class="nothing-here quiet">
        {search === ''
          ? isFolded
            ? 'Older calls in this range are kept as totals only, which do not name their prices.'
            : 'No priced calls in this range.'
          : `No used prices match “${search}”.`}
        {search !== '' && (
          <Button kind="bare" small onClick={() => setAll(true)}>
            Search all prices
          </Button>
        )}
      </p>
    )
  return (
    <Card
      title="Prices"
      class="prices-card"
      about={bookWords(costs, clock.nowMs)}
      actions={
        <>
          <Button small onClick={() => setDialog({ ...bounds, onlyUnpriced: waiting > 0 })}>
            Recalculate costs…
          </Button>
          <Button small icon="refresh" isOff={prices.isSyncing} onClick={prices.sync}>
            {prices.isSyncing ? 'Syncing…' : 'Sync prices'}
          </Button>
        </>
      }
    >
      <PricesNotes
        costs={costs}
        prices={prices}
        isLooking={isLooking}
        isRepricing={isRepricing}
        offer={offer ?? (waiting > 0 ? waitingWords(waiting) : null)}
        onPreview={() =>
          setDialog(offer === null || preview === null ? { ...bounds, onlyUnpriced: true } : preview)
        }
      />
      <div class="prices-tools row wraps" id={pricesId} tabIndex={-1}>
        <Segments
          label="Prices to show"
          words={{
            met: matches === null ? 'Used' : `Used (${count(matches.matches.length)})`,
            all: `All (${count(knownCount)})`,
          }}
          chosen={isAll ? 'all' : 'met'}
          onChoose={(choice) => setAll(choice === 'all')}
        />
        <SearchField
          label="Search prices"
          placeholder="Model, upstream or key"
          value={search}
          onValue={(price) => replace({ price })}
        />
        <OrderSelect
          class="prices-order"
          words={isAll ? orderWordsOfAll : orderWords}
          order={order ?? usualOrder}
          rising={order !== null && priceRising}
          onOrder={(next, priceRising) => go({ priceOrder: next === usualOrder ? null : next, priceRising })}
        />
      </div>
      {isFiltered({ ...address, models: [] }) && (
        <p class="nothing-here fine quiet">
          Prices and recalculation use only the range and models; other filters do not apply.
        </p>
      )}
      <EditableTable
        key={isAll ? `all ${search}` : 'met'}
        caption={`${isAll ? 'All prices' : 'Used prices'}, in dollars per million tokens`}
        rows={lines}
        keyOf={({ key }) => key}
        nameOf={({ name }) => name}
        columns={[nameColumn, ...priceColumns, ...(isAll ? [] : [spentColumn])]}
        order={{
          name: order,
          rising: priceRising,
          onOrder: (priceOrder, priceRising) => go({ priceOrder, priceRising }),
        }}
        detailsOf={(line) => line.price && <PriceDetails {...line} />}
        buttonOf={({ price }) => (price === null ? 'Set price' : 'Change')}
        formOf={({ priced }) => priced && priceForm(priced, nowMs(), (day) => times.dayStartMs(day))}
        onSaved={prices.onChanged}
        most={rowsAtFirst}
        empty={empty}
      />
      {!isAll && typeof matches?.counted_from === 'string' && (
        <p class="prices-foot fine">
          Calls and their cost are counted from {times.full(Date.parse(matches.counted_from))}: earlier calls
          are kept as totals only, or are too many to count individually.
        </p>
      )}
      {syncNote !== null && <p class="prices-foot fine">{syncNote}</p>}
      {dialog !== null && (
        <RepriceDialog
          question={{ ...dialog, zone: times.zone }}
          onDone={() => {
            // The job may have ended before the page knew of it.
            forget()
            onRepriced()
          }}
          onClose={close}
        />
      )}
    </Card>
  )
}

interface NotesProps {
  readonly costs: Costs
  readonly prices: Prices
  readonly isLooking: boolean
  readonly isRepricing: boolean
  /** The text about calls that can be priced now; null if there are none. */
  readonly offer: string | null
  readonly onPreview: () => void
}

/** Notes above the prices: errors, the running job, and calls that can be priced. */
function PricesNotes({ costs, prices, isLooking, isRepricing, offer, onPreview }: NotesProps) {
  const times = useTimes()
  const progress = useLive(({ repricing }) => repricing?.progress ?? null)
  const problem = problemWords(costs)
  const failure = prices.syncError ?? syncFailure(costs, times)
  return (
    <div class="prices-told stack">
      {prices.isSyncing && <progress aria-label="Syncing prices" />}
      {problem !== null && (
        <Banner tone="bad" title="Could not read the price file.">
          {problem}
        </Banner>
      )}
      {failure !== null && <Banner tone="warn">{failure}</Banner>}
      {isRepricing && (
        <Banner>Recalculating costs{progress === null ? '…' : `, ${progressShare(progress)}`}</Banner>
      )}
      {!isRepricing && offer !== null && (
        <Banner
          class="prices-offer"
          role="status"
          actions={
            <Button small isOff={isLooking} onClick={onPreview}>
              Preview…
            </Button>
          }
        >
          {offer}
        </Banner>
      )}
    </div>
  )
}

/** Returns the text about the range's unpriced calls whose model has a price now. */
function waitingWords(calls: number): string {
  return calls === 1
    ? '1 call in this range had no price when it was made and has one now.'
    : `${counted(calls, 'call')} in this range had no price when they were made and have one now.`
}
