import { useMemo, useState } from 'preact/hooks'
import type { Bounds } from '../charts/time-frame.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { isFiltered } from '../data/page-address.ts'
import { useAction } from '../data/use-action.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { ConfirmDialog } from '../design/confirm.tsx'
import { Note } from '../design/note.tsx'
import { SearchField } from '../design/search-field.tsx'
import { Segments } from '../design/segments.tsx'
import { count, counted } from '../format/figures.ts'
import { knownLine, knownPrices, listedMatches, matchedLine, priceableCalls } from './prices.ts'
import { PriceTable } from './price-table.tsx'
import { RepriceDialog } from './reprice-dialog.tsx'
import {
  bookWords,
  offerWords,
  problemWords,
  progressShare,
  syncFailure,
  syncWords,
} from './price-changes.ts'
import type { Costs } from '../../src/api/costs.ts'
import { type Prices, costActions, useRepriceOffer } from './use-prices.ts'

/** The element that gets the focus if somebody wants to see the prices. */
export const pricesId = 'prices'

export interface PricesCardProps {
  readonly prices: Prices
  readonly bounds: Bounds
  /** Some of the range is kept as sums alone. */
  readonly isFolded: boolean
  readonly onRepriced: () => void
}

/** The dialog that is open. */
type Dialog =
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'reprice'; readonly bounds: Bounds; readonly onlyUnpriced: boolean }

/** The prices that calls met, or all that are known; sets prices, syncs them, and prices past calls anew. */
export function PricesCard({ prices, bounds, isFolded, onRepriced }: PricesCardProps) {
  const { address, amend } = useNavigation()
  const times = useTimes()
  const { costs, matches } = prices
  const [isAll, setAll] = useState(false)
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const { trouble, run } = useAction()
  const search = address.price
  const clock = { times, nowMs: nowMs(), fromMs: bounds.fromMs }
  const listed = useMemo(
    () => listedMatches(matches?.matches ?? [], address.models, search),
    [matches, address.models, search],
  )
  const known = useMemo(
    () => (costs === null || !isAll ? [] : knownPrices(costs, search)),
    [costs, isAll, search],
  )
  const { found, far, isRepricing, forget } = useRepriceOffer(prices.changes, bounds, times.zone, onRepriced)
  if (costs === null) return <Awaited what="The prices" {...prices} height="18rem" />
  const offer = found === null ? null : offerWords(found, (day) => times.namedDay(day))
  const waiting = matches === null ? 0 : priceableCalls(matches.matches, bounds.fromMs)
  const told = syncWords(costs, times)
  const knownCount = Object.keys(costs.models).length + Object.keys(costs.overrides).length
  const close = (): void => setDialog(null)
  // Made when they are shown: there are more than a thousand.
  const lines = isAll
    ? known.map((price) => () => knownLine(price, clock))
    : listed.map((match) => () => matchedLine(match, costs.overrides, clock))
  return (
    <Card
      title="Prices"
      about={bookWords(costs, clock.nowMs)}
      actions={
        <>
          <Button
            kind="bare"
            small
            onClick={() => setDialog({ kind: 'reprice', bounds, onlyUnpriced: waiting > 0 })}
          >
            Price past calls anew…
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
        trouble={trouble?.message ?? null}
        isRepricing={isRepricing}
        offer={offer ?? (waiting > 0 ? waitingWords(waiting) : null)}
        onPreview={() =>
          setDialog({ kind: 'reprice', bounds: offer === null ? bounds : far, onlyUnpriced: true })
        }
      />
      <div class="prices-tools" id={pricesId} tabIndex={-1}>
        <Segments
          label="Which prices"
          words={{
            met: matches === null ? 'Met by calls' : `Met by calls, ${count(matches.matches.length)}`,
            all: `All known, ${count(knownCount)}`,
          }}
          chosen={isAll ? 'all' : 'met'}
          onChoose={(choice) => setAll(choice === 'all')}
        />
        <SearchField
          label="Search prices"
          placeholder="Model, upstream or key"
          value={search}
          onValue={(price) => amend({ price })}
          keysTitle="Costs"
        />
      </div>
      {isFiltered({ ...address, models: [] }) && (
        <p class="prices-none fine quiet">
          Prices, their calls and the recalculation are of all calls in the range: of the filters, only models
          apply here.
        </p>
      )}
      {lines.length > 0 && (
        <PriceTable
          key={isAll ? `all ${search}` : 'met'}
          caption={isAll ? 'All known prices' : 'Prices that the calls met'}
          lines={lines}
          hasSpent={!isAll}
          isSyncing={prices.isSyncing}
          onSync={prices.sync}
          onSaved={prices.onChanged}
          onRemove={(name) => setDialog({ kind: 'remove', name })}
        />
      )}
      {isAll && known.length === 0 && (
        <p class="prices-none quiet">
          {search === '' ? 'No price is known yet.' : `No price has “${search}” in its name.`}
        </p>
      )}
      {!isAll && matches === null && (
        <Awaited what="The prices that the calls met" {...prices} height="18rem" />
      )}
      {!isAll && matches !== null && listed.length === 0 && (
        <p class="prices-none quiet">
          {search === ''
            ? isFolded
              ? 'Older calls of this range are kept as totals, which do not name the prices that they met.'
              : 'No priced calls in this range.'
            : `None that calls of this time met has “${search}” in its name.`}
          {search !== '' && (
            <Button kind="bare" small onClick={() => setAll(true)}>
              Search all known prices
            </Button>
          )}
        </p>
      )}
      {!isAll && typeof matches?.counted_from === 'string' && (
        <p class="prices-foot fine">
          Calls and what they cost are counted from {times.full(Date.parse(matches.counted_from))} on: earlier
          ones were folded into sums, or are too many to be counted one by one.
        </p>
      )}
      {told !== null && <p class="prices-foot fine">{told}</p>}
      {dialog?.kind === 'remove' && (
        <ConfirmDialog
          title={`Remove your price of ${dialog.name}?`}
          yes="Remove"
          points={[
            'From now on its calls cost what a price list says, or are unpriced.',
            'What was recorded already keeps its cost.',
          ]}
          onYes={() => {
            close()
            void run(async () => {
              await costActions.removePrice(dialog.name)
              prices.onChanged()
            })
          }}
          onNo={close}
        />
      )}
      {dialog?.kind === 'reprice' && (
        <RepriceDialog
          question={{ ...dialog.bounds, onlyUnpriced: dialog.onlyUnpriced, zone: times.zone }}
          onDone={() => {
            // Over before it was seen to be under way.
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
  /** Why the last removal failed. */
  readonly trouble: string | null
  readonly isRepricing: boolean
  /** Says which calls can be priced now. */
  readonly offer: string | null
  readonly onPreview: () => void
}

/** Notes above the prices: errors, the job under way, and calls that can be priced. */
function PricesNotes({ costs, prices, trouble, isRepricing, offer, onPreview }: NotesProps) {
  const times = useTimes()
  const progress = useLive(({ repricing }) => repricing?.progress ?? null)
  const problem = problemWords(costs)
  const failure = prices.syncTrouble ?? syncFailure(costs, times)
  return (
    <div class="prices-told stack">
      {prices.isSyncing && <progress aria-label="Syncing prices" />}
      {problem !== null && (
        <Note tone="bad" title="The price file cannot be read.">
          {problem}
        </Note>
      )}
      {failure !== null && <Note tone="warn">{failure}</Note>}
      {trouble !== null && <Note tone="bad">{trouble}</Note>}
      {isRepricing && (
        <Note>
          Past calls are being priced anew{progress === null ? '…' : `, ${progressShare(progress)}`}
        </Note>
      )}
      {!isRepricing && offer !== null && (
        <Note
          class="prices-offer"
          role="status"
          actions={
            <Button small onClick={onPreview}>
              Preview…
            </Button>
          }
        >
          {offer}
        </Note>
      )}
    </div>
  )
}

/** Of calls of this time without a cost whose model has a price. */
function waitingWords(calls: number): string {
  return calls === 1
    ? '1 call of this time had no price when it was made, and has one now.'
    : `${counted(calls, 'call')} of this time had no price when they were made, and have one now.`
}
