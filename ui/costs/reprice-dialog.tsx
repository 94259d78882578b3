import './reprice-dialog.css'
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { RepriceResult } from '../../src/api/costs.ts'
import { useLive } from '../data/live.ts'
import { reasonOf } from '../data/trouble.ts'
import { Icon } from '../design/icon.tsx'
import { count, counted } from '../format/figures.ts'
import { type RepriceQuestion, costActions } from './cost-actions.ts'
import {
  type RepricedModel,
  changeWords,
  consequences,
  difference,
  doneWords,
  fromTo,
  isWorthIt,
  progressShare,
  repricedModels,
  signedDollars,
} from './reprice-words.ts'

/** Of one model, days beyond these are only in its sum. */
const mostDays = 100

export interface RepriceDialogProps {
  /** All but the choice between calls without a price and all. */
  readonly question: RepriceQuestion
  /** The time, in words. */
  readonly spanWords: string
  readonly dayWords: (day: string) => string
  readonly onDone: () => void
  readonly onClose: () => void
}

type Stage =
  | { readonly kind: 'looking' }
  | { readonly kind: 'found'; readonly result: RepriceResult }
  | { readonly kind: 'working'; readonly since: string }
  | { readonly kind: 'done'; readonly result: RepriceResult | null }
  | { readonly kind: 'failed'; readonly trouble: string }

/** Shows what pricing the past anew would change, does it when it is told to, and says what came of it. */
export function RepriceDialog({
  question,
  spanWords,
  dayWords,
  onDone,
  onClose,
}: RepriceDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const repricing = useLive(({ repricing }) => repricing)
  const [onlyUnpriced, setOnlyUnpriced] = useState(question.onlyUnpriced)
  const [stage, setStage] = useState<Stage>({ kind: 'looking' })
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    let isHere = true
    setStage({ kind: 'looking' })
    costActions.previewReprice({ ...question, onlyUnpriced }).then(
      (result) => isHere && setStage({ kind: 'found', result }),
      (error: unknown) => isHere && setStage({ kind: 'failed', trouble: reasonOf(error) }),
    )
    return () => {
      isHere = false
    }
  }, [onlyUnpriced])
  const before = useRef(repricing?.started_at)
  useEffect(() => {
    if (stage.kind !== 'working' || repricing === null || repricing.dry_run) return
    if (repricing.started_at === before.current || repricing.state === 'running') return
    if (repricing.state === 'done') {
      setStage({ kind: 'done', result: repricing.result })
      onDone()
    } else setStage({ kind: 'failed', trouble: repricing.error?.message ?? 'It came to nothing.' })
  }, [stage, repricing])
  const apply = async (): Promise<void> => {
    if (stage.kind !== 'found' || !isWorthIt(stage.result)) return
    before.current = repricing?.started_at
    setStage({ kind: 'working', since: new Date().toISOString() })
    try {
      await costActions.reprice({ ...question, onlyUnpriced })
    } catch (error) {
      setStage({ kind: 'failed', trouble: reasonOf(error) })
    }
  }
  const leave = (): void => dialog.current?.close()
  const isOver = stage.kind === 'done' || stage.kind === 'failed'
  return (
    <dialog
      ref={dialog}
      class="reprice-dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onClose={onClose}
    >
      <h2 id={id}>Price past calls anew</h2>
      <p class="quiet">
        By the prices in force when they were made, {spanWords}. What an upstream told itself stays.
      </p>
      {!isOver && (
        <label class="choice">
          <input
            type="checkbox"
            checked={onlyUnpriced}
            disabled={stage.kind === 'working'}
            onChange={({ currentTarget }) => setOnlyUnpriced(currentTarget.checked)}
          />
          <span>Only calls without a price</span>
        </label>
      )}
      <div class="reprice-told" aria-live="polite">
        {stage.kind === 'looking' && <p class="quiet">Looking what would change…</p>}
        {stage.kind === 'found' && <Preview result={stage.result} dayWords={dayWords} />}
        {stage.kind === 'working' && <Working />}
        {stage.kind === 'failed' && (
          <p class="note bad" role="alert">
            {stage.trouble}
          </p>
        )}
        {stage.kind === 'done' && (
          <p class="reprice-done">
            <Icon name="check" />
            {stage.result === null ? 'Done.' : doneWords(stage.result)}
          </p>
        )}
      </div>
      {stage.kind === 'found' && isWorthIt(stage.result) && (
        <ul class="reprice-points">
          {consequences(stage.result).map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      )}
      <div class="buttons">
        {isOver || stage.kind === 'working' ? (
          <button type="button" class="button" onClick={leave}>
            {stage.kind === 'working' ? 'Close, it goes on' : 'Close'}
          </button>
        ) : (
          <>
            <button type="button" class="button" onClick={leave}>
              Cancel
            </button>
            <button
              type="button"
              class="button strong"
              aria-disabled={stage.kind !== 'found' || !isWorthIt(stage.result)}
              onClick={() => void apply()}
            >
              {stage.kind === 'found' && isWorthIt(stage.result)
                ? `Price ${counted(stage.result.calls, 'call')} anew`
                : 'Apply'}
            </button>
          </>
        )}
      </div>
    </dialog>
  )
}

function Working(): JSX.Element {
  const repricing = useLive(({ repricing }) => repricing)
  const progress = repricing?.state === 'running' && !repricing.dry_run ? repricing.progress : null
  const share = progress === null || progress.total === 0 ? null : Math.min(1, progress.done / progress.total)
  return (
    <>
      <p class="quiet">Pricing anew{progress === null ? '…' : `, ${progressShare(progress)}`}</p>
      <progress aria-label="Pricing anew" value={share ?? undefined} max={1} />
    </>
  )
}

interface PreviewProps {
  readonly result: RepriceResult
  readonly dayWords: (day: string) => string
}

function Preview({ result, dayWords }: PreviewProps): JSX.Element {
  const models = repricedModels(result.days)
  if (!isWorthIt(result)) {
    return <p>No call would change: the prices in force say the same, or nothing, of that time.</p>
  }
  const { before_usd: beforeUsd, after_usd: afterUsd } = result
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <div class="reprice-table" tabIndex={0} role="region" aria-label="What would change">
      <table>
        <caption class="aside">What would change</caption>
        <thead>
          <tr>
            <th scope="col">Model and day</th>
            <th scope="col">Calls</th>
            <th scope="col">Cost</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        {models.map((model) => (
          <ModelRows key={model.model ?? '\0'} model={model} dayWords={dayWords} />
        ))}
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td>{count(result.calls)}</td>
            <td>{fromTo(beforeUsd, afterUsd)}</td>
            <td>{signedDollars(difference({ beforeUsd, afterUsd }))}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function ModelRows({
  model,
  dayWords,
}: {
  readonly model: RepricedModel
  readonly dayWords: (day: string) => string
}): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const { days } = model
  const [only] = days
  return (
    <tbody>
      <tr>
        <th scope="row">
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name="right" size={14} />
            <span>{model.model ?? 'no model named'}</span>
          </button>
          <small>
            {days.length === 1 && only !== undefined ? dayWords(only.day) : counted(days.length, 'day')}
          </small>
        </th>
        <td>{count(model.calls)}</td>
        <td>{fromTo(model.beforeUsd, model.afterUsd)}</td>
        <td>{changeWords(model)}</td>
      </tr>
      {isOpen && days.length > mostDays && (
        <tr class="is-day">
          <th scope="row" colSpan={4}>
            The first {mostDays} of {count(days.length)} days:
          </th>
        </tr>
      )}
      {isOpen &&
        days.slice(0, mostDays).map(({ day, calls, before_usd: beforeUsd, after_usd: afterUsd }) => (
          <tr key={day} class="is-day">
            <th scope="row">{dayWords(day)}</th>
            <td>{count(calls)}</td>
            <td>{fromTo(beforeUsd, afterUsd)}</td>
            <td>{signedDollars(difference({ beforeUsd, afterUsd }))}</td>
          </tr>
        ))}
    </tbody>
  )
}
