import type { JSX } from 'preact'
import type { Costs } from '../../src/api/costs.ts'
import { useLive } from '../data/live.ts'
import { Button } from '../design/button.tsx'
import { Note } from '../design/note.tsx'
import { counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { progressShare } from './reprice-words.ts'
import { problemWords, syncFailure } from './sync-words.ts'
import type { Prices } from './use-prices.ts'

export interface PricesNotesProps {
  readonly costs: Costs
  readonly prices: Prices
  /** Why the last removal failed. */
  readonly trouble: string | null
  readonly times: Times
  readonly isRepricing: boolean
  /** Says which calls can be priced now. */
  readonly offer: string | null
  /** Calls of this time without a cost whose model has a price. */
  readonly waiting: number
  readonly onPreview: () => void
}

/** Notes above the prices: errors, the job under way, and calls that can be priced. */
export function PricesNotes(props: PricesNotesProps): JSX.Element {
  const { costs, prices, trouble, times, isRepricing, offer, waiting, onPreview } = props
  const progress = useLive(({ repricing }) => repricing?.progress ?? null)
  const problem = problemWords(costs)
  const failure = prices.syncTrouble ?? syncFailure(costs, times)
  return (
    <div class="prices-told">
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
      {!isRepricing && (offer !== null || waiting > 0) && (
        <Note
          class="prices-offer"
          role="status"
          actions={
            <Button small onClick={onPreview}>
              Preview…
            </Button>
          }
        >
          {offer ?? waitingWords(waiting)}
        </Note>
      )}
    </div>
  )
}

function waitingWords(calls: number): string {
  return calls === 1
    ? '1 call of this time had no price when it was made, and has one now.'
    : `${counted(calls, 'call')} of this time had no price when they were made, and have one now.`
}
