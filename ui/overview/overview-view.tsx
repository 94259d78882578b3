import './overview-view.css'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { ViewProps } from '../data/view-props.ts'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { ChartRoomContext } from '../charts/chart-room.tsx'
import { Crosshair } from '../charts/crosshair.ts'
import { usePalette } from '../charts/use-palette.ts'
import { useZoom } from '../charts/use-zoom.ts'
import { useAnswer } from '../data/use-answer.ts'
import { FilterBar } from '../filters/filter-bar.tsx'
import { refreshEveryMs } from '../filters/refresh-every.ts'
import { type ListedCalls, shownCalls } from './calls-card.tsx'
import { FirstCallCard } from '../design/first-call-card.tsx'
import { NothingCard } from '../design/nothing-card.tsx'
import type { Overview } from '../../src/api/overview.ts'
import { OverviewBody, type OverviewBodyProps } from './overview-body.tsx'
import { OverviewSkeleton } from './overview-skeleton.tsx'
import { overviewKey, overviewPath } from './overview-question.ts'
import { bucketWords, marksOf, outagesOf } from './overview-time.ts'
import { useYoungRange } from './use-young-range.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** Is it well, and what changed? */
export function OverviewView({ times }: ViewProps): JSX.Element {
  const { address } = useNavigation()
  const [isHeld, hold] = useState(false)
  const answered = useAnswer<Overview>(
    overviewKey(address),
    () => overviewPath(address, times.zone, nowMs()),
    { everyMs: refreshEveryMs(address.range), isPaused: isHeld || address.call !== null },
  )
  const { answeredMs, isLoading, trouble, isStale, again } = answered
  const answer = useYoungRange(answered.answer)
  const [chosenList, setList] = useState<ListedCalls | null>(null)
  // The slowest are looked for among those that succeeded.
  const list = chosenList ?? (address.errorsOnly ? 'failed' : 'slowest')
  const panel = useCallPanel()
  const listed = answer === null ? [] : shownCalls(answer, list)
  const place = listed.findIndex(({ id }) => id === address.call)
  const palette = usePalette()
  const { zoom, zoomOut } = useZoom()
  const crosshair = useMemo(() => new Crosshair(), [])
  const outages = useMemo(() => (answer === null ? [] : outagesOf(answer)), [answer])
  const marks = useMemo(() => (answer === null ? [] : marksOf(answer.events, nearMs(answer))), [answer])
  const room = useMemo(
    () => ({ times, palette, crosshair, outages, marks, zoom, zoomOut, hold }),
    [times, palette, crosshair, outages, marks, zoom, zoomOut],
  )
  return (
    <ChartRoomContext.Provider value={room}>
      <FilterBar
        times={times}
        answeredMs={answeredMs}
        isLoading={isLoading}
        trouble={answer === null ? null : trouble}
        again={again}
        {...(answer === null ? {} : { bucketWords: `${bucketWords(answer.bucket_s)} buckets` })}
        models={answer?.available_models ?? []}
        types={answer?.available_types ?? []}
      />
      {answer === null && trouble !== null && <TroubleCard trouble={trouble} again={again} />}
      {answer === null && trouble === null && <OverviewSkeleton />}
      {answer !== null && (
        <div class={`overview ${isStale ? 'is-stale' : ''}`} aria-busy={isStale}>
          <Answer answer={answer} times={times} list={list} onList={setList} onOpen={panel.open} />
        </div>
      )}
      {address.call !== null && (
        <CallPanel
          id={address.call}
          times={times}
          onClose={panel.close}
          onMove={(step) => {
            const next = listed[place + step]
            if (place >= 0 && next !== undefined) panel.moveTo(next.id)
          }}
          listed={listed[place]}
        />
      )}
    </ChartRoomContext.Provider>
  )
}

/** Marks nearer to each other than a line is wide would be drawn upon each other. */
function nearMs({ from, to }: Overview): number {
  return (Date.parse(to) - Date.parse(from)) / 300
}

function Answer(props: OverviewBodyProps): JSX.Element {
  const { answer } = props
  if (answer.totals.calls > 0) return <OverviewBody {...props} />
  const isUnread = answer.store !== undefined && answer.store !== 'missing' && answer.store !== 'empty'
  if (isUnread) {
    return (
      <section class="note bad" role="alert">
        <strong>The database cannot be read.</strong>
        <span>{answer.note}</span>
      </section>
    )
  }
  // Of no type: there never was a call.
  return answer.available_types.length === 0 ? <FirstCallCard /> : <NothingCard />
}

function TroubleCard({
  trouble,
  again,
}: {
  readonly trouble: string
  readonly again: () => void
}): JSX.Element {
  return (
    <section class="card overview-trouble" role="alert">
      <h2>The figures could not be had</h2>
      <p class="quiet">{trouble}</p>
      <button type="button" class="button strong" onClick={again}>
        Retry
      </button>
    </section>
  )
}
