import { useMemo, useRef } from 'preact/hooks'
import type { Sessions } from '../../src/api/sessions.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallSession } from '../../src/call/figures.ts'
import { barScaleMs } from '../call/call-phases.ts'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { useCallsLayout } from '../calls/calls-layout.ts'
import { CallsList } from '../calls/calls-list.tsx'
import { nowMs } from '../data/dashboard-clock.ts'
import { orderWords } from '../data/call-text.ts'
import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, defaultAddress, isFiltered } from '../data/page-address.ts'
import { useAgainOnCalls } from '../data/use-again-on-calls.ts'
import { useQuery } from '../data/use-query.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { useShortcuts } from '../design/keys.ts'
import { Banner } from '../design/banner.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { sortedRows } from '../design/table/sorted-rows.ts'
import { useFrozen, useReaderPresence } from '../design/use-reader-presence.ts'
import { count, counted, dollars, duration, orDash, percent, unknownFigure } from '../format/figures.ts'
import { FilterChips } from '../filters/filter-bar.tsx'
import { shownText } from '../payloads/shown-text.ts'
import { type SessionCourse, sessionCourse } from './session-course.ts'
import { costWords, modelWords, toolUses } from './session-text.ts'
import { Timeline } from './timeline.tsx'
import { useSessionCalls } from './use-session-calls.ts'

/** The view of a session: figures, a timeline of its calls, and a list of the same calls. */
export function SessionView({ session }: { readonly session: string }) {
  const { address, go } = useNavigation()
  const head = useQuery<Sessions>(`/api/sessions?${new URLSearchParams({ session, limit: '1' })}`)
  useAgainOnCalls(true, (name) => name === session, head.again)
  const figures = head.answer?.sessions[0] ?? null
  const loaded = useSessionCalls(session, figures?.first_at ?? null)
  const course = useMemo(() => sessionCourse(loaded.calls), [loaded.calls])
  const { sort, tab, listRising } = defaultAddress
  const toAll = { session: null, call: null, sort, tab, rising: address.listRising, listRising } as const
  useShortcuts('Sessions', [{ key: 'u', words: 'All sessions', run: () => go(toAll) }])
  const error = loaded.error ?? head.error
  return (
    <div class="view stack">
      <section class="card session-head stack" aria-labelledby="session-name">
        <div class="session-title row wraps">
          <AddressLink to={toAll} class="text-link">
            Sessions
          </AddressLink>
          <h2 id="session-name" class="title">
            {shownText(session)}
          </h2>
          <CopyButton text={session} what="the session’s name" />
        </div>
        {isFiltered({ ...address, session: null }) && (
          <div class="row wraps">
            <FilterChips />
          </div>
        )}
        {figures !== null && <Figures figures={figures} course={course} />}
      </section>
      {error !== null && (
        <Banner
          tone="bad"
          onRetry={() => {
            head.again()
            loaded.again()
          }}
        >
          {error}
        </Banner>
      )}
      {head.answer !== null && figures === null ? (
        <section class="card">
          <EmptyState title="No calls recorded for this session">
            Its calls may still be in progress, or were rolled up into totals without sessions.
          </EmptyState>
        </section>
      ) : loaded.calls.length === 0 || !loaded.isLoaded ? (
        error === null && <div class="skeleton" style={{ height: '22rem' }} />
      ) : (
        <CourseAndCalls course={course} calls={loaded.calls} total={figures?.calls ?? 0} />
      )}
    </div>
  )
}

interface CourseAndCallsProps {
  readonly course: SessionCourse
  readonly calls: readonly CallJson[]
  readonly total: number
}

function CourseAndCalls({ course, calls, total }: CourseAndCallsProps) {
  const { address } = useNavigation()
  const sorted = useMemo(() => inOrder(calls, address), [calls, address.sort, address.rising])
  const box = useRef<HTMLDivElement>(null)
  const reading = useReaderPresence(box, () => false, true)
  const shown = useFrozen(sorted, reading.isRead, orderWords(address))
  const list = useMemo(
    () => ({ calls: shown, total: shown.length, scaleMs: barScaleMs(shown), answeredMs: nowMs() }),
    [shown],
  )
  const panel = useCallPanel(shown)
  const layout = useCallsLayout(box)
  return (
    <>
      <Timeline course={course} openId={address.call} onOpen={panel.open} />
      {total > calls.length && (
        <p class="fine">
          Showing the last {count(calls.length)} of {count(total)} calls. The figures above include all.
        </p>
      )}
      <section class="card clips" aria-label="Calls in the session">
        <div ref={box} class="list-around" {...reading.listeners}>
          <CallsList {...layout} list={list} onOpen={panel.open} />
        </div>
      </section>
      {address.call !== null && <CallPanel id={address.call} listed={panel.call} {...panel.moves} />}
    </>
  )
}

/** Sorts calls as the list of Calls does. Calls without a value come last. */
function inOrder(calls: readonly CallJson[], { sort, rising }: PageAddress): readonly CallJson[] {
  const newest = calls.toReversed()
  if (sort === 'started_at') return rising ? calls : newest
  const field = ({ duration: 'duration_ms', ttft: 'ttft_ms', cost: 'cost_usd' } as const)[sort]
  return sortedRows(newest, ({ [field]: value }) => value, rising)
}

function Figures({ figures, course }: { readonly figures: CallSession; readonly course: SessionCourse }) {
  const times = useTimes()
  const {
    client,
    models,
    calls,
    errors,
    wall_ms: wallMs,
    in_calls_ms: inCallsMs,
    between_ms: betweenMs,
  } = figures
  const breaks = course.pieces.filter(({ prefixBreak }) => prefixBreak !== null).length
  // Many upstreams report no cache, which differs from an empty one.
  const isCacheReported = course.pieces.some(({ call }) => call.cached_input_tokens !== null)
  const { tools, togetherMs } = useMemo(() => toolUses(course), [course])
  return (
    <>
      <p class="session-about quiet">
        {client === null ? 'Unknown client' : shownText(client)} · {modelWords(models, 4)} ·{' '}
        {times.between(Date.parse(figures.first_at), Date.parse(figures.first_at) + wallMs)}
      </p>
      <DescriptionList
        class="session-facts named-figures"
        facts={[
          ['Duration', duration(wallMs)],
          ['In calls', <Share key="in" ms={inCallsMs} wallMs={wallMs} />],
          ['Between calls', <Share key="own" ms={betweenMs} wallMs={wallMs} />],
          [
            'Calls',
            <>
              {count(calls)}
              {errors > 0 && <small class="bad">, {count(errors)} failed</small>}
            </>,
          ],
          [
            'Tokens in',
            <>
              {count(figures.input_tokens)}
              <small>, {orDash(isCacheReported ? figures.cached_share : null, percent)} cached</small>
            </>,
          ],
          ['Tokens out', count(figures.output_tokens)],
          [
            'Cost',
            <>
              {costWords(figures)}
              {figures.cache_saved_usd !== null && figures.cache_saved_usd > 0 && (
                <small> {dollars(figures.cache_saved_usd)} saved by caching</small>
              )}
            </>,
          ],
          [
            'Cache breaks',
            <span key="breaks" class={breaks > 0 ? 'notice' : ''}>
              {isCacheReported ? count(breaks) : unknownFigure}
            </span>,
          ],
        ]}
      />
      {tools.length > 0 && (
        <p class="row wraps fine">
          <span>Tools: calls and time until the next call</span>
          {tools.slice(0, 8).map(({ name, calls, ms }) => (
            <span key={name} class="tag" title={`Used by ${counted(calls, 'call')}`}>
              {shownText(name)} <span class="quiet">{count(calls)}×</span>
              {ms > 0 && `, ${duration(ms)}`}
            </span>
          ))}
          {tools.length > 8 && <span>and {count(tools.length - 8)} more</span>}
          {togetherMs > 0 && <span>{duration(togetherMs)} after calls with several tools</span>}
        </p>
      )}
    </>
  )
}

function Share({ ms, wallMs }: { readonly ms: number; readonly wallMs: number }) {
  return (
    <>
      {duration(ms)}
      {wallMs > 0 && <small> {percent(Math.round((ms / wallMs) * 100) / 100)}</small>}
    </>
  )
}
