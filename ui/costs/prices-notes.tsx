import type { ComponentChildren, JSX } from 'preact'
import type { Costs } from '../../src/api/costs.ts'
import { useLive } from '../data/live.ts'
import { counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { progressShare } from './reprice-words.ts'
import { problemWords, syncFailure } from './sync-words.ts'
import type { Prices } from './use-prices.ts'

export interface PricesNotesProps {
  readonly costs: Costs
  readonly prices: Prices
  /** Why the last press came to nothing. */
  readonly trouble: string | null
  readonly times: Times
  readonly isRepricing: boolean
  /** What was found that can be priced now, in words. */
  readonly offer: string | null
  /** Calls of this time without a cost whose model has a price. */
  readonly waiting: number
  readonly onPreview: () => void
}

/** What is to be known of the prices before one reads them: what is wrong, what goes on, what could be done. */
export function PricesNotes(props: PricesNotesProps): JSX.Element {
  const { costs, prices, trouble, times, isRepricing, offer, waiting, onPreview } = props
  const repricing = useLive(({ repricing }) => repricing)
  const problem = problemWords(costs)
  const failure = prices.syncTrouble ?? syncFailure(costs, times)
  const progress = repricing?.progress ?? null
  return (
    <div class="prices-told">
      {prices.isSyncing && <progress aria-label="Syncing prices" />}
      {problem !== null && (
        <Wrong tone="bad">
          <strong>The price file cannot be read.</strong> {problem}
        </Wrong>
      )}
      {failure !== null && <Wrong tone="warn">{failure}</Wrong>}
      {trouble !== null && <Wrong tone="bad">{trouble}</Wrong>}
      {isRepricing ? (
        <div class="note">
          <p>Past calls are being priced anew{progress === null ? '…' : `, ${progressShare(progress)}`}</p>
        </div>
      ) : (
        (offer !== null || waiting > 0) && (
          <div class="note prices-offer" role="status">
            <p>{offer ?? waitingWords(waiting)}</p>
            <button type="button" class="button small" onClick={onPreview}>
              Preview…
            </button>
          </div>
        )
      )}
    </div>
  )
}

interface WrongProps {
  readonly tone: 'bad' | 'warn'
  readonly children: ComponentChildren
}

function Wrong({ tone, children }: WrongProps): JSX.Element {
  return (
    <div class={`note ${tone}`} role="alert">
      <p>{children}</p>
    </div>
  )
}

function waitingWords(calls: number): string {
  return calls === 1
    ? '1 call of this time had no price when it was made, and has one now.'
    : `${counted(calls, 'call')} of this time had no price when they were made, and have one now.`
}
