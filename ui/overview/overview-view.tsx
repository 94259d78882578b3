import './overview.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Overview } from '../../src/api/overview.ts'
import { failureSentence } from '../data/failure-text.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type Against, defaultAddress, isFiltered } from '../data/page-address.ts'
import { refreshEveryMs } from '../data/page-range.ts'
import { useFreeCalls } from '../data/use-free-calls.ts'
import { useCallPanel } from '../call/use-call-panel.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { ChartEventsContext, isDragging } from '../charts/plot.tsx'
import { useLive } from '../data/live.ts'
import { useQuery } from '../data/use-query.ts'
import { useObservable } from '../data/observable.ts'
import { AgainstChoice } from '../filters/choice-filters.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { type ListedCalls, shownCalls } from './calls-card.tsx'
import { NoCallsCard } from '../empty-states/no-calls.tsx'
import { Icon } from '../design/icon.tsx'
import { Awaited } from '../design/awaited.tsx'
import { Banner } from '../design/banner.tsx'
import { Popover } from '../design/overlay/popover.tsx'
import { earlierPath, isRecorded } from './earlier.ts'
import { OverviewBody, OverviewSkeleton } from './overview-body.tsx'
import { overviewPath, reportPath } from './overview-question.ts'
import { marksOf, outagesOf, youngRange } from './overview-time.ts'
import { nowMs } from '../data/dashboard-clock.ts'

const NotesPanel = lazyPart(async () => (await import('./notes-panel.tsx')).NotesPanel)

// The panel has no placeholder in the view.
const CallPanel = lazyPart(
  async () => (await import('../call/call-panel.tsx')).CallPanel,
  () => null,
)

/** The interval of requests until the first call arrives. */
const firstCallEveryMs = 2000

/** The view of the most important figures and their changes. */
export function OverviewView() {
  const { address } = useNavigation()
  const times = useTimes()
  const isHeld = useObservable(isDragging)
  const greets = useRef(false)
  const query = useQuery<Overview>((nowMs) => overviewPath(address, times.zone, nowMs), {
    everyMs: (answer) => (hasNoCalls(answer) ? firstCallEveryMs : refreshEveryMs(address.range)),
    isPaused: isHeld || address.call !== null,
  })
  const hasNone = hasNoCalls(query.answer)
  if (hasNone) greets.current = true
  const first = query.answer?.latest.at(-1)
  const failure = first === undefined || !first.failed ? null : failureSentence(first)
  const { error, isStale, again } = query
  const [earlier, earlierError] = useEarlier(isHeld)
  const rules = useLive(({ alertRules }) => alertRules)
  const free = useFreeCalls(query.answer?.totals.unpriced_calls ?? 0, query.answer?.models ?? undefined)
  const young = useYoungRange(query.answer)
  const answer = useMemo(
    () => comparedWith(young, earlier, address.against),
    [young, earlier, address.against],
  )
  const [chosenList, setList] = useState<ListedCalls | null>(null)
  // With a filter for failed calls, the newest ones are the most useful.
  const list = chosenList ?? (address.errorsOnly ? 'failed' : 'slowest')
  const panel = useCallPanel(answer === null ? [] : shownCalls(answer, list))
  const events = useMemo(
    () => ({
      outages: answer === null ? [] : outagesOf(answer),
      marks: answer === null ? [] : marksOf(answer, nearMs(answer)),
    }),
    [answer],
  )
  // While another answer is awaited, the body is not rendered again.
  const body = useMemo(
    () =>
      answer &&
      (answer.totals.calls === 0 ? (
        <NoCallsCard answer={answer} />
      ) : (
        <OverviewBody {...{ answer, earlier, rules, free, list }} onList={setList} onOpen={panel.open} />
      )),
    [answer, earlier, rules, free, list, panel.open],
  )
  return (
    <ChartEventsContext.Provider value={events}>
      <FilterBar
        query={{ ...query, answer }}
        actions={
          <>
            <Popover label="Notes" icon="note" title="Notes: mark an event in the charts" widthPx={352}>
              {() => <NotesPanel onChanged={again} />}
            </Popover>
            <a
              class="button bare"
              href={reportPath(address, times.zone, nowMs())}
              download
              title="Report: download this view as one HTML file"
            >
              <Icon name="download" size={14} />
              <span class="filter-more-words">Report</span>
            </a>
          </>
        }
      >
        <AgainstChoice />
      </FilterBar>
      {answer === null && (error === null ? <OverviewSkeleton /> : <Awaited what="the figures" {...query} />)}
      {answer !== null && (
        <div class={`view stack overview ${isStale ? 'is-stale' : ''}`} aria-busy={isStale}>
          {greets.current && !hasNone && (
            <Banner
              role="status"
              {...(failure !== null && { tone: 'bad' as const })}
              title={failure === null ? 'Your first call is recorded.' : `Your first call failed. ${failure}`}
            >
              {failure === null ? 'Its figures are below. ' : 'It is recorded. '}
              Select it in the list to see where its time went.
            </Banner>
          )}
          {error === null && earlierError !== null && (
            <Banner tone="bad" title="Could not load the period to compare with.">
              {earlierError}
            </Banner>
          )}
          {earlier !== null && !isRecorded(earlier) && (
            <Banner>
              {earlier.totals.calls === 0
                ? 'Nothing was recorded in the period to compare with.'
                : 'Only part of the period to compare with was recorded.'}
            </Banner>
          )}
          {body}
        </div>
      )}
      {address.call !== null && <CallPanel id={address.call} listed={panel.call} {...panel.moves} />}
    </ChartEventsContext.Provider>
  )
}

/** True if no call was ever recorded, because then no type of calls is known. */
function hasNoCalls(answer: Overview | null): boolean {
  return answer?.available_types.length === 0
}

/** Requests the earlier period to compare with. Returns the answer, which is null until it arrives, and the error. */
function useEarlier(isPaused: boolean): readonly [Overview | null, string | null] {
  const { address } = useNavigation()
  const { zone } = useTimes()
  const { against } = address
  const { answer, isStale, error } = useQuery<Overview>(
    against === null ? null : (nowMs) => earlierPath(address, against, zone, nowMs),
    { everyMs: refreshEveryMs(address.range), isPaused: isPaused || address.call !== null },
  )
  return against === null ? [null, null] : [isStale ? null : answer, error]
}

/**
 * Returns the answer with the chosen earlier period as the previous one, so that changes compare with it. Until its
 * figures arrive, there are no changes.
 */
function comparedWith(
  answer: Overview | null,
  earlier: Overview | null,
  against: Against | null,
): Overview | null {
  if (answer === null || (earlier === null && (against === null || against === 'previous'))) return answer
  return { ...answer, previous: earlier !== null && isRecorded(earlier) ? earlier.totals : null }
}

/** Returns the time (ms) in which marks would overlap, about the width of a line. */
function nearMs({ from, to }: Overview): number {
  return (Date.parse(to) - Date.parse(from)) / 300
}

/**
 * Returns the answer to show. If the page was opened without a range, and all calls are from the last hours, the
 * range becomes shorter. Null until the answer for that range arrives.
 */
function useYoungRange(answer: Overview | null): Overview | null {
  const { address, isFirst, replace } = useNavigation()
  const skipped = useRef<Overview | null>(null)
  const isOpen = isFirst && address.range === defaultAddress.range && !isFiltered(address)
  const last = isOpen && answer !== null ? youngRange(answer) : null
  if (last !== null) skipped.current = answer
  useEffect(() => {
    if (last !== null) replace({ range: { last } })
  }, [last])
  return answer === skipped.current ? null : answer
}
