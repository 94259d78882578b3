import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { RepriceProgress, RepriceResult } from '../../src/api/database-job.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { reasonOf } from '../data/dashboard-error.ts'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { useModal } from '../design/use-modal.ts'
import { Note } from '../design/note.tsx'
import { Table } from '../design/table.tsx'
import { count, counted } from '../format/figures.ts'
import {
  type RepricedModel,
  changeWords,
  consequences,
  doneWords,
  fromTo,
  progressShare,
  repricedModels,
} from './price-changes.ts'
import { type RepriceQuestion, costActions } from './use-prices.ts'

/** Of one model, days beyond these are only in its sum. */
const mostDays = 100

export interface RepriceDialogProps {
  /** All but the choice between calls without a price and all. */
  readonly question: RepriceQuestion
  readonly onDone: () => void
  readonly onClose: () => void
}

type Stage =
  | { readonly kind: 'looking' }
  | { readonly kind: 'found'; readonly result: RepriceResult }
  | { readonly kind: 'working' }
  | { readonly kind: 'done'; readonly result: RepriceResult | null }
  | { readonly kind: 'failed'; readonly trouble: string }

/** Previews how pricing the past anew would change costs, does it, and tells the result. */
export function RepriceDialog({ question, onDone, onClose }: RepriceDialogProps) {
  const times = useTimes()
  const { leave, props } = useModal(onClose)
  const id = useId()
  const repricing = useLive(({ repricing }) => repricing)
  const [onlyUnpriced, setOnlyUnpriced] = useState(question.onlyUnpriced)
  const [stage, setStage] = useState<Stage>({ kind: 'looking' })
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
  const toDo = stage.kind === 'found' && stage.result.calls > 0 ? stage.result : null
  const apply = async (): Promise<void> => {
    if (toDo === null) return
    before.current = repricing?.started_at
    setStage({ kind: 'working' })
    try {
      await costActions.reprice({ ...question, onlyUnpriced })
    } catch (error) {
      setStage({ kind: 'failed', trouble: reasonOf(error) })
    }
  }
  const isRunning = repricing?.state === 'running' && !repricing.dry_run
  const isOver = stage.kind === 'done' || stage.kind === 'failed'
  return (
    <dialog {...props} class="reprice-dialog" aria-labelledby={id}>
      <h2 id={id}>Price past calls anew</h2>
      <p class="quiet">
        By the prices in force when they were made, {times.between(question.fromMs, question.toMs)}. What an
        upstream told itself stays.
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
        {stage.kind === 'found' && <Preview result={stage.result} />}
        {stage.kind === 'working' && <Working progress={isRunning ? repricing.progress : null} />}
        {stage.kind === 'failed' && <Note tone="bad">{stage.trouble}</Note>}
        {stage.kind === 'done' && (
          <p class="reprice-done row">
            <Icon name="check" />
            {stage.result === null ? 'Done.' : doneWords(stage.result)}
          </p>
        )}
      </div>
      {toDo !== null && (
        <ul class="points">
          {consequences(toDo).map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      )}
      <div class="buttons">
        <Button onClick={() => leave()}>
          {stage.kind === 'working' ? 'Close, it goes on' : isOver ? 'Close' : 'Cancel'}
        </Button>
        {!isOver && stage.kind !== 'working' && (
          <Button kind="strong" isOff={toDo === null} onClick={() => void apply()}>
            {toDo === null ? 'Apply' : `Price ${counted(toDo.calls, 'call')} anew`}
          </Button>
        )}
      </div>
    </dialog>
  )
}

function Working({ progress }: { readonly progress: RepriceProgress | null }) {
  const share = progress === null || progress.total === 0 ? undefined : progress.done / progress.total
  return (
    <>
      <p class="quiet">Pricing anew{progress === null ? '…' : `, ${progressShare(progress)}`}</p>
      <progress aria-label="Pricing anew" value={share} max={1} />
    </>
  )
}

function Preview({ result }: { readonly result: RepriceResult }) {
  if (result.calls === 0) {
    return <p>No call would change: the prices in force say the same, or nothing, of that time.</p>
  }
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <div class="reprice-table" tabIndex={0} role="region" aria-label="What would change">
      <Table caption="What would change" columns={['Model and day', 'Calls', 'Cost', 'Change']}>
        {repricedModels(result.days).map((model) => (
          <ModelRows key={model.model ?? '\0'} model={model} />
        ))}
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <Cells {...result} />
          </tr>
        </tfoot>
      </Table>
    </div>
  )
}

function ModelRows({ model }: { readonly model: RepricedModel }) {
  const times = useTimes()
  const [isOpen, setOpen] = useState(false)
  const { days } = model
  const [first] = days
  return (
    <tbody>
      <tr>
        <th scope="row">
          <button type="button" class="opener" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name="right" size={14} />
            <span>{model.model ?? 'no model named'}</span>
          </button>
          <small>
            {days.length === 1 && first !== undefined
              ? times.namedDay(first.day)
              : counted(days.length, 'day')}
          </small>
        </th>
        <Cells {...model} />
      </tr>
      {isOpen && days.length > mostDays && (
        <tr class="is-day">
          <th scope="row" colSpan={4}>
            The first {mostDays} of {count(days.length)} days:
          </th>
        </tr>
      )}
      {isOpen &&
        days.slice(0, mostDays).map((day) => (
          <tr key={day.day} class="is-day">
            <th scope="row">{times.namedDay(day.day)}</th>
            <Cells {...day} />
          </tr>
        ))}
    </tbody>
  )
}

type CellsProps = Pick<RepricedModel, 'calls' | 'before_usd' | 'after_usd'>

function Cells({ calls, ...costs }: CellsProps) {
  return (
    <>
      <td>{count(calls)}</td>
      <td>{fromTo(costs)}</td>
      <td>{changeWords(costs)}</td>
    </>
  )
}
