import { useState } from 'preact/hooks'
import type { CompressResult, DatabaseSize } from '../../src/api/database-job.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { ConfirmButton } from '../design/overlay/confirm.tsx'
import { Control } from '../design/form/control.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { bytes, orDash, unknownFigure } from '../format/figures.ts'
import {
  compressPoints,
  daysOf,
  estimateWords,
  growthWords,
  isWorthIt,
  keptDays,
  outcomeWords,
  progressWords,
} from './compress-text.ts'

const sizeEveryMs = 60_000

/** The database file, its size, and a form that compresses it. */
export function DatabaseCard() {
  const job = useLive(({ job }) => job)
  // The size is loaded again when a job ends.
  const { answer } = useQuery<DatabaseSize>('/api/db', { everyMs: sizeEveryMs, version: job?.state ?? '' })
  const [days, setDays] = useState(String(keptDays.usual))
  const [estimate, setEstimate] = useState<readonly [days: number, result: CompressResult] | null>(null)
  const action = useAction()
  const keepDays = daysOf(days)
  const isRunning = job?.state === 'running'
  const isAtWork = isRunning && !job.dry_run
  const isBusy = action.isBusy || isRunning
  // An estimate is valid only for its number of days.
  const preview = estimate?.[0] === keepDays ? estimate[1] : null

  const look = (): void => {
    if (isBusy || keepDays === null) return
    void action.run(async () =>
      setEstimate([
        keepDays,
        await act<CompressResult>('POST', '/api/db/compress', { keep_days: keepDays, dry_run: true }),
      ]),
    )
  }
  const begin = (): void => {
    if (keepDays === null) return
    void action.run(async () => {
      await act('POST', '/api/db/compress?async=1', { keep_days: keepDays })
      setEstimate(null)
    })
  }

  const isFailed = job?.state === 'failed' && !job.dry_run
  const isWrong = days.trim() !== '' && keepDays === null
  const result = isWrong
    ? `Enter a whole number of days from ${keptDays.least} to 36,500.`
    : (action.error?.message ?? (preview === null ? outcomeWords(job) : estimateWords(preview)))
  const isBad = isWrong || action.error !== null || (isFailed && preview === null)
  const progress = isAtWork ? progressWords(job.progress) : null
  return (
    <Card title="Database" class="database-card">
      <DescriptionList
        class="facts stack"
        facts={[
          ['File', <code id="database-file">{answer?.file ?? unknownFigure}</code>],
          [
            'Size',
            <span id="database-size">
              {answer?.bytes === null ? 'not created yet' : orDash(answer?.bytes, bytes)}
            </span>,
          ],
          ['Growth', <span id="database-growth">{growthWords(answer ?? null, nowMs())}</span>],
        ]}
      />
      <form
        class="divided"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          look()
        }}
      >
        <h3>Compress</h3>
        <p>Rolls older calls up into hourly totals and shrinks the file.</p>
        <div class="order row wraps">
          <label for="keep-days">Keep individual calls for</label>
          <Control
            id="keep-days"
            value={days}
            isNumber
            aria-invalid={isWrong ? 'true' : undefined}
            aria-describedby="compress-told"
            onInput={setDays}
          />
          <span>days</span>
          <div class="buttons row wraps at-end">
            <Button type="submit" isOff={isBusy || keepDays === null}>
              {isRunning && job.dry_run ? 'Estimating…' : 'Estimate'}
            </Button>
            <ConfirmButton
              isOff={isBusy || preview === null || !isWorthIt(preview)}
              question={{
                title: 'Compress the database?',
                yes: 'Compress',
                points: keepDays === null || preview === null ? [] : compressPoints(keepDays, preview),
              }}
              onYes={begin}
            >
              {isAtWork ? 'Compressing…' : 'Compress'}
            </ConfirmButton>
          </div>
        </div>
        <div class="told">
          <p
            id="compress-told"
            class={isBad && progress === null ? 'bad' : 'quiet'}
            role={progress === null ? 'status' : undefined}
          >
            {progress?.words ?? result ?? 'Run an estimate first; nothing is changed.'}
          </p>
          {progress !== null && (
            <progress aria-label="Compressing" value={progress.share ?? undefined} max={1} />
          )}
        </div>
      </form>
    </Card>
  )
}
