import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { RepriceDay, RepriceResult } from '../../src/api/database-job.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { reasonOf } from '../data/dashboard-error.ts'
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

type Stage =
  | { readonly kind: 'looking' }
  | { readonly kind: 'found'; readonly result: RepriceResult }
  | { readonly kind: 'working' }
  | { readonly kind: 'done'; readonly result: RepriceResult | null }
  | { readonly kind: 'failed'; readonly error: string }

/** The dialog that previews a recalculation of costs, runs it, and shows the result. */
export function RepriceDialog({ question, onDone, onClose }: RepriceDialogProps) {
  const times = useTimes()
  const { leave, props } = useModal(onClose)
  const id = useId()
  const repricing = useLive(({ repricing }) => repricing)
  const [onlyUnpriced, setOnlyUnpriced] = useState(question.onlyUnpriced)
  const [stage, setStage] = useState<Stage>({ kind: 'looking' })
  useEffect(() => {
    if (question.result !== undefined && onlyUnpriced === question.onlyUnpriced) {
      setStage({ kind: 'found', result: question.result })
      return
    }
    let isHere = true
    setStage({ kind: 'looking' })
    reprice<RepriceResult>({ ...question, onlyUnpriced }, true).then(
      (result) => isHere && setStage({ kind: 'found', result }),
      (error: unknown) => isHere && setStage({ kind: 'failed', error: reasonOf(error) }),
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
    } else setStage({ kind: 'failed', error: repricing.error?.message ?? 'The recalculation failed.' })
  }, [stage, repricing])
  const toDo = stage.kind === 'found' && stage.result.calls > 0 ? stage.result : null
  const apply = async (): Promise<void> => {
    if (toDo === null) return
    before.current = repricing?.started_at
    setStage({ kind: 'working' })
    try {
      await reprice({ ...question, onlyUnpriced }, false)
    } catch (error) {
      setStage({ kind: 'failed', error: reasonOf(error) })
    }
  }
  const progress = repricing?.state === 'running' && !repricing.dry_run ? repricing.progress : null
  const isOver = stage.kind === 'done' || stage.kind === 'failed'
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
            disabled={stage.kind === 'working'}
            onChange={({ currentTarget }) => setOnlyUnpriced(currentTarget.checked)}
          />
          <span>Only calls without a price</span>
        </label>
      )}
      <div class="reprice-told" aria-live="polite">
        {stage.kind === 'looking' && <p class="quiet">Calculating changes…</p>}
        {stage.kind === 'found' && <Preview result={stage.result} />}
        {stage.kind === 'working' && (
          <>
            <p class="quiet">Recalculating{progress === null ? '…' : `, ${progressShare(progress)}`}</p>
            <progress
              aria-label="Recalculating"
              value={progress === null || progress.total === 0 ? undefined : progress.done / progress.total}
              max={1}
            />
          </>
        )}
        {stage.kind === 'failed' && <Banner tone="bad">{stage.error}</Banner>}
        {stage.kind === 'done' && (
          <p class="reprice-done row">
            <Icon name="check" />
            {stage.result === null ? 'Done.' : doneWords(stage.result)}
          </p>
        )}
      </div>
      {toDo !== null && (
        <ul class="points stack">
          {consequences(toDo).map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      )}
      <div class="buttons row wraps">
        <Button onClick={() => leave()}>
          {stage.kind === 'working' ? 'Close, keep running' : isOver ? 'Close' : 'Cancel'}
        </Button>
        {!isOver && stage.kind !== 'working' && (
          <Button kind="strong" isOff={toDo === null} onClick={() => void apply()}>
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
