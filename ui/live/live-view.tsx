import './live.css'
import { useMemo, useRef, useState } from 'preact/hooks'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { useLive } from '../data/live.ts'
import { useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { useShortcuts } from '../design/keys.ts'
import { FirstCallCommand } from '../empty-states/first-call.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { useFrozen, useReaderPresence } from '../design/use-reader-presence.ts'
import { FilterChips } from '../filters/filter-bar.tsx'
import { ErrorsFilter, ModelFilter, filterKeys } from '../filters/choice-filters.tsx'
import { TextSearch } from '../filters/text-search.tsx'
import { BoardCard } from './board-card.tsx'
import { PayloadLoggingCard } from './payload-logging-card.tsx'
import { liveFilterOf, shownCalls } from './live-feed.ts'
import { LiveList } from './live-list.tsx'
import { LiveAnnouncement } from './live-announcement.tsx'
import { useLiveFeed } from './use-live-feed.ts'

/** A smaller distance from the newest entry (CSS px) counts as being there. */
const nearPx = 8

/** The view that lists calls as they begin and end, with their payloads. */
export function LiveView() {
  const navigation = useNavigation()
  const { address } = navigation
  const isRunning = useLive(({ status }) => status?.running ?? true)
  const { feed, isReached, redraw } = useLiveFeed()
  const box = useRef<HTMLDivElement>(null)
  const reading = useReaderPresence(box, ({ scrollTop }) => scrollTop > nearPx, true)
  const [isPaused, setPaused] = useState(false)
  const { models, errorsOnly, text } = address
  const filter = useMemo(() => liveFilterOf(address), [models.join('\n'), errorsOnly, text])
  const shown = shownCalls(feed.calls, filter)
  // An empty list has no reader.
  const isHeld = shown.length > 0 && (isPaused || reading.isRead || address.call !== null)
  // Another filter ends the freeze.
  const calls = useFrozen(shown, isHeld, filter)
  const newest = Math.max(-1, ...calls.map(({ number }) => number))
  const news = shown.filter(({ number }) => number > newest).length

  const resume = (): void => {
    setPaused(false)
    reading.leave()
    box.current?.scrollTo(0, 0)
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && box.current?.contains(activeElement) === true) {
      activeElement.blur()
    }
  }
  const pauseOrResume = (): void => (isPaused ? resume() : setPaused(true))
  useShortcuts('Live', [
    ...filterKeys(navigation),
    { key: ' ', words: 'Pause or resume', run: pauseOrResume },
  ])

  // The list that had the focus last. At first the board, because its calls can be cancelled.
  const [keys, setKeys] = useState<'board' | 'list'>('board')
  const hasKeys = (feed.board?.calls.length ?? 0) > 0 ? keys : 'list'
  const panel = useCallPanel(calls)
  return (
    <>
      <div onFocusCapture={() => setKeys('board')}>
        <BoardCard
          board={feed.board}
          recordOf={(id) => feed.recordOf(id)}
          isRunning={isRunning}
          isLost={isReached === false}
          isReadBelow={reading.isRead}
          hasKeys={hasKeys === 'board'}
          onOpen={panel.open}
        />
      </div>
      <PayloadLoggingCard />
      <section class="card clips" aria-labelledby="live-title" onFocusCapture={() => setKeys('list')}>
        <div class="live-head row wraps">
          <h2 id="live-title">Live feed</h2>
          <LiveAnnouncement feed={feed} isReached={isReached} isRunning={isRunning} shown={shown.length} />
          <Button
            class={`live-pause ${isPaused ? 'is-set' : ''}`}
            icon={isPaused ? 'play' : 'pause'}
            aria-pressed={isPaused}
            onClick={pauseOrResume}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </div>
        <div class="live-tools row wraps" role="group" aria-label="Filters">
          <TextSearch label="Find in payloads" placeholder="Find in payloads" />
          <ModelFilter models={feed.models} />
          <ErrorsFilter />
          <FilterChips />
          <Button
            class="at-end"
            isOff={feed.calls.length === 0}
            title="Removes ended calls from this page. Recorded calls are kept."
            onClick={() => {
              feed.clear()
              resume()
              redraw()
            }}
          >
            Clear list
          </Button>
        </div>
        {calls.length > 0 ? (
          <LiveList
            box={box}
            calls={calls}
            news={news}
            isHeld={isHeld}
            reading={reading}
            hasKeys={hasKeys === 'list'}
            onOpen={(id) => panel.open(id, 'chat')}
            onResume={resume}
          />
        ) : feed.calls.length > 0 ? (
          <EmptyState title="No calls match">
            No call in this list matches all filters. New calls that match will appear.
          </EmptyState>
        ) : isReached === false ? (
          <EmptyState title="Dashboard unreachable">Calls appear here once it responds again.</EmptyState>
        ) : isRunning ? (
          <EmptyState title="Waiting for calls">
            <p>Each call appears here when it starts, and its response when it ends. Send one:</p>
            <FirstCallCommand />
          </EmptyState>
        ) : (
          <EmptyState title="The gateway is stopped">
            Start it at the top of the page to see calls here.
          </EmptyState>
        )}
      </section>
      {address.call !== null && <CallPanel id={address.call} liveCall={panel.call} {...panel.moves} />}
    </>
  )
}
