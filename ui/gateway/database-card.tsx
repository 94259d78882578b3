import './database-card.css'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { CompressResult, DatabaseFile } from '../../src/api/database-job.ts'
import { actions } from '../data/dashboard-api.ts'
import { useLive } from '../data/live.ts'
import { reasonOf } from '../data/trouble.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Card } from '../design/card.tsx'
import { ConfirmDialog } from '../design/confirm-dialog.tsx'
import { bytes, known, unknownFigure } from '../format/figures.ts'
import {
  compressPoints,
  daysOf,
  estimateWords,
  isWorthIt,
  keptDays,
  outcomeWords,
  progressWords,
} from './compress-words.ts'

const sizeEveryMs = 60_000

/** What compressing would do, and for which days that was found. */
interface Estimate {
  readonly days: number
  readonly result: CompressResult
}

/** Where calls are kept, how much that takes, and making it less. */
export function DatabaseCard(): JSX.Element {
  const job = useLive(({ job }) => job)
  // A job has another size for its end.
  const { answer } = useAnswer<DatabaseFile>(`db ${job?.state}`, () => '/api/db', { everyMs: sizeEveryMs })
  const [days, setDays] = useState(String(keptDays.usual))
  const [estimate, setEstimate] = useState<Estimate | null>(null)
  const [isLooking, setIsLooking] = useState(false)
  const [isBeginning, setIsBeginning] = useState(false)
  const [isAsked, setIsAsked] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const kept = daysOf(days)
  const runs = job?.state === 'running'
  const isAtWork = runs && !job.dry_run
  const isBusy = isLooking || isBeginning || runs
  // What was found holds for the days that it was found for.
  const found = estimate !== null && estimate.days === kept ? estimate.result : null
  const canCompress = !isBusy && found !== null && isWorthIt(found)

  const look = async (): Promise<void> => {
    if (isBusy || kept === null) return
    setIsLooking(true)
    setTrouble(null)
    try {
      setEstimate({ days: kept, result: await actions.estimateCompress(kept) })
    } catch (error) {
      setTrouble(reasonOf(error))
    } finally {
      setIsLooking(false)
    }
  }
  const begin = async (): Promise<void> => {
    setIsAsked(false)
    if (kept === null) return
    setIsBeginning(true)
    setTrouble(null)
    try {
      await actions.compress(kept)
      setEstimate(null)
    } catch (error) {
      setTrouble(reasonOf(error))
    } finally {
      setIsBeginning(false)
    }
  }

  const isFailed = job?.state === 'failed' && !job.dry_run
  const wrong = days.trim() !== '' && kept === null
  const said = wrong
    ? `A whole number of days from ${keptDays.least} to 36 500.`
    : (trouble ?? (found === null ? outcomeWords(job) : estimateWords(found)))
  return (
    <Card title="Database" class="database-card">
      <dl>
        <div>
          <dt>File</dt>
          <dd>
            <code id="database-file">{answer?.file ?? unknownFigure}</code>
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd id="database-size">{answer?.bytes === null ? 'not made yet' : known(answer?.bytes, bytes)}</dd>
        </div>
      </dl>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void look()
        }}
      >
        <h3>Compress</h3>
        <p>Older calls become sums over quarter hours, and the file gets smaller.</p>
        <div class="order">
          <label for="keep-days">Keep single calls for</label>
          <input
            id="keep-days"
            class="field"
            type="text"
            inputMode="numeric"
            autocomplete="off"
            value={days}
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby="compress-told"
            onInput={({ currentTarget }) => setDays(currentTarget.value)}
          />
          <span>days</span>
          <div class="buttons">
            <button type="submit" class="button" aria-disabled={isBusy || kept === null}>
              {isLooking || (runs && job.dry_run) ? 'Looking…' : 'Estimate'}
            </button>
            <button
              type="button"
              class="button"
              aria-disabled={!canCompress}
              onClick={() => {
                if (canCompress) setIsAsked(true)
              }}
            >
              {isAtWork || isBeginning ? 'Compressing…' : 'Compress'}
            </button>
          </div>
        </div>
        <div class="told">
          {isAtWork ? (
            <Progress words={progressWords(job.progress)} />
          ) : (
            <p
              id="compress-told"
              class={wrong || trouble !== null || (isFailed && found === null) ? 'bad' : 'quiet'}
              role="status"
            >
              {said ?? 'Estimate first: it only looks.'}
            </p>
          )}
        </div>
      </form>
      {isAsked && found !== null && kept !== null && (
        <ConfirmDialog
          title="Compress the database?"
          yes="Compress"
          points={compressPoints(kept, found)}
          onYes={() => void begin()}
          onNo={() => setIsAsked(false)}
        />
      )}
    </Card>
  )
}

function Progress({
  words: { words, share },
}: {
  readonly words: ReturnType<typeof progressWords>
}): JSX.Element {
  return (
    <>
      <p id="compress-told" class="quiet">
        {words}
      </p>
      <progress aria-label="Compressing" value={share ?? undefined} max={1} />
    </>
  )
}
