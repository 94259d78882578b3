import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { RepriceDay, RepriceResult } from '../../src/api/database-job.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { useModal } from '../design/overlay/use-modal.ts'
import { Banner } from '../design/banner.tsx'
import { type Column, Table } from '../design/table/table.tsx'
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

/** The calls whose cost is recalculated. */
interface RepriceQuestion extends Bounds {
  readonly onlyUnpriced: boolean
  readonly zone: string
}

/**
 * Requests a recalculation. A dry run answers with the changes; otherwise the topic `jobs` reports progress and
 * result.
 */
function reprice<Answer>(question: RepriceQuestion, isDryRun: boolean): Promise<Answer> {
  const { fromMs, toMs, onlyUnpriced, zone } = question
  return act('POST', '/api/costs/reprice', {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    only_unpriced: onlyUnpriced,
    tz: zone,
    dry_run: isDryRun,
  })
}

/** The most days shown for one model. Further days are included in its sum. */
const mostDays = 100

export interface RepriceDialogProps {
  /**
   * The calls to recalculate, before the user chooses between unpriced calls and all; with the changes, if they are
   * known.
   */
  readonly question: RepriceQuestion & { readonly result?: RepriceResult }
  readonly onDone: () => void
  readonly onClose: () => void
}

/** The dialog that previews a recalculation of costs, runs it, and shows the result. */
export function RepriceDialog({ question, onDone, onClose }: RepriceDialogProps) {
  const times = useTimes()
  const { leave, props } = useModal(onClose)
  const id = useId()
  const repricing = useLive(({ repricing }) => repricing)
  const [onlyUnpriced, setOnlyUnpriced] = useState(question.onlyUnpriced)
  /** The changes of each choice; undefined until they are known. */
  const [previews, setPreviews] = useState(new Map([[question.onlyUnpriced, question.result]]))
  const action = useAction()
  /** The start of the job before this one; null without one, undefined until this one was begun. */
  const [startBefore, setStartBefore] = useState<string | null>()
  const isBegun = startBefore !== undefined
  const preview = isBegun ? undefined : previews.get(onlyUnpriced)
  useEffect(() => {
    if (preview !== undefined) return
    void action.run(async () => {
      const result = await reprice<RepriceResult>({ ...question, onlyUnpriced }, true)
      setPreviews((before) => new Map(before).set(onlyUnpriced, result))
    })
  }, [onlyUnpriced])
  const job =
    isBegun && repricing?.dry_run === false && repricing.started_at !== startBefore ? repricing : null
  const error =
    action.error?.message ??
    (job?.state === 'failed' ? (job.error?.message ?? 'The recalculation failed.') : null)
  const isDone = job?.state === 'done'
  const isWorking = isBegun && !isDone && error === null
  const isOver = isDone || error !== null
  useEffect(() => {
    if (isDone) onDone()
  }, [isDone])
  const toDo = preview !== undefined && preview.calls > 0 ? preview : null
  const apply = (): void => {
    setStartBefore(repricing?.started_at ?? null)
    void action.run(() => reprice({ ...question, onlyUnpriced }, false))
  }
  const progress = repricing?.state === 'running' && !repricing.dry_run ? repricing.progress : null
  return (
    <dialog {...props} class="reprice-dialog" aria-labelledby={id}>
      <h2 id={id}>Recalculate costs</h2>
      <p class="quiet">
        Uses the prices in effect at the time of each call, {times.between(question.fromMs, question.toMs)}.
        Costs reported by an upstream are kept.
      </p>
      {!isOver && (
        <label class="choice row">
          <input
            type="checkbox"
            checked={onlyUnpriced}
            disabled={isWorking}
            onChange={({ currentTarget }) => setOnlyUnpriced(currentTarget.checked)}
          />
          <span>Only calls without a price</span>
        </label>
      )}
      <div class="reprice-told" aria-live="polite">
        {!isBegun && !isOver && preview === undefined && <p class="quiet">Calculating changes…</p>}
        {!isOver && preview !== undefined && <Preview result={preview} />}
        {isWorking && (
          <>
            <p class="quiet">Recalculating{progress === null ? '…' : `, ${progressShare(progress)}`}</p>
            <progress
              aria-label="Recalculating"
              value={progress === null || progress.total === 0 ? undefined : progress.done / progress.total}
              max={1}
            />
          </>
        )}
        {error !== null && <Banner tone="bad">{error}</Banner>}
        {isDone && (
          <p class="reprice-done row">
            <Icon name="check" />
            {job.result === null ? 'Done.' : doneWords(job.result)}
          </p>
        )}
      </div>
      {!isOver && toDo !== null && (
        <ul class="points stack">
          {consequences(toDo).map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      )}
      <div class="buttons row wraps">
        <Button onClick={() => leave()}>
          {isWorking ? 'Close, keep running' : isOver ? 'Close' : 'Cancel'}
        </Button>
        {!isOver && !isWorking && (
          <Button kind="strong" isOff={toDo === null} onClick={apply}>
            {toDo === null ? 'Apply' : `Recalculate ${counted(toDo.calls, 'call')}`}
          </Button>
        )}
      </div>
    </dialog>
  )
}

/** The change of a model, or of one of its days. */
type RepriceLine = RepricedModel | RepriceDay

const figureColumns: readonly Column<RepriceLine>[] = [
  { head: 'Calls', cell: ({ calls }) => count(calls) },
  { head: 'Cost', cell: fromTo },
  { head: 'Change', cell: changeWords },
]

function Preview({ result }: { readonly result: RepriceResult }) {
  const times = useTimes()
  /** The models whose days are shown. */
  const [opened, setOpened] = useState<readonly (string | null)[]>([])
  if (result.calls === 0) {
    return <p>No costs would change.</p>
  }
  const nameOf = (line: RepriceLine): ComponentChildren => {
    if (!('days' in line)) return times.namedDay(line.day)
    const { model, days } = line
    const isOpen = opened.includes(model)
    const others = opened.filter((candidate) => candidate !== model)
    return (
      <>
        <button
          type="button"
          class="opener row"
          aria-expanded={isOpen}
          onClick={() => setOpened(isOpen ? others : [...others, model])}
        >
          <Icon name="right" size={14} />
          <span>{model ?? 'no model'}</span>
        </button>
        <small>
          {days.length === 1
            ? times.namedDay(days[0]?.day ?? '')
            : `${isOpen && days.length > mostDays ? `first ${mostDays} of ` : ''}${counted(days.length, 'day')}`}
        </small>
      </>
    )
  }
  return (
    // The region can have the focus, so that the keyboard can scroll it.
    <div class="reprice-table" tabIndex={0} role="region" aria-label="Changes">
      <Table
        caption="Changes"
        columns={[{ head: 'Model and day', cell: nameOf }, ...figureColumns]}
        rows={repricedModels(result.days).flatMap((model) => {
          const days: readonly RepriceLine[] = opened.includes(model.model) ? model.days : []
          return [model, days.slice(0, mostDays)].flat()
        })}
        keyOf={(line) => JSON.stringify([line.model, 'days' in line ? '' : line.day])}
        attributesOf={(line) => ('days' in line ? {} : { class: 'is-day' })}
        total={{ ...result, model: null }}
      />
    </div>
  )
}

/** Unpriced calls are searched at least this far back (30 days). */
const farMs = 30 * 86_400_000

/** A preview and its calls. */
type RepricePreview = Bounds & { readonly onlyUnpriced: boolean; readonly result: RepriceResult }

/**
 * Previews a recalculation after prices have changed. Calls back after each recalculation, including those started
 * elsewhere.
 */
export function useRepriceOffer(changes: number, bounds: Bounds, zone: string, onRepriced: () => void) {
  /** True while costs are recalculated, by this page or elsewhere. */
  const isRepricing = useLive(({ repricing }) => repricing?.state === 'running' && !repricing.dry_run)
  const [preview, setPreview] = useState<RepricePreview | null>(null)
  const { isBusy: isLooking, run } = useAction()
  useEffect(() => {
    if (changes === 0) return
    const toMs = Math.max(bounds.toMs, nowMs())
    const look = async (): Promise<RepricePreview> => {
      const far = { fromMs: Math.min(bounds.fromMs, toMs - farMs), toMs, onlyUnpriced: true }
      const unpriced = await reprice<RepriceResult>({ ...far, zone }, true)
      if (unpriced.newly_priced > 0) return { ...far, result: unpriced }
      const all = { ...bounds, toMs, onlyUnpriced: false }
      return { ...all, result: await reprice<RepriceResult>({ ...all, zone }, true) }
    }
    void run(async () => setPreview(await look().catch(() => null)))
  }, [changes])
  const wasRepricing = useRef(isRepricing)
  useEffect(() => {
    if (wasRepricing.current && !isRepricing) {
      setPreview(null)
      onRepriced()
    }
    wasRepricing.current = isRepricing
  }, [isRepricing])
  return { preview, isLooking, isRepricing, forget: () => setPreview(null) }
}
