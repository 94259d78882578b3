import './live-view.css'
import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { useLive } from '../data/live.ts'
import { Icon } from '../design/icon.tsx'
import { useShortcuts } from '../design/keys.ts'
import type { ViewProps } from '../data/view-props.ts'
import { KeepingCard } from './keeping-card.tsx'
import { liveFilterOf, shownCalls } from './live-filter.ts'
import { LiveList } from './live-list.tsx'
import { LiveTools } from './live-tools.tsx'
import { LiveTold } from './live-told.tsx'
import { NothingYet } from './nothing-yet.tsx'
import { useHeld, useReadingSigns } from './use-held.ts'
import { useLiveFeed } from './use-live-feed.ts'

/** What happens right now: calls as they begin and end, with what goes over the wire. */
export function LiveView({ times }: ViewProps): JSX.Element {
  const { address } = useNavigation()
  const status = useLive(({ status }) => status)
  const { feed, isReached, redraw } = useLiveFeed()
  const panel = useCallPanel()
  const box = useRef<HTMLDivElement>(null)
  const signs = useReadingSigns(box)
  const [isPaused, setPaused] = useState(false)
  const { models, errorsOnly, text } = address
  const filter = useMemo(() => liveFilterOf(address), [models.join('\n'), errorsOnly, text])
  const shown = shownCalls(feed.calls, filter)
  const held = useHeld(shown, isPaused || signs.isRead || address.call !== null, filter)

  const resume = (): void => {
    setPaused(false)
    signs.clear()
    box.current?.scrollTo(0, 0)
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && box.current?.contains(activeElement) === true) {
      activeElement.blur()
    }
  }
  const pauseOrResume = (): void => (isPaused ? resume() : setPaused(true))
  useShortcuts('Live', [{ key: ' ', words: 'Pause or go on', run: pauseOrResume }])

  const openAt = held.calls.findIndex(({ id }) => id === address.call)
  const move = (step: 1 | -1): void => {
    const next = held.calls[openAt + step]
    if (next !== undefined) panel.moveTo(next.id)
  }
  const isRunning = status === null || status.running
  return (
    <>
      <KeepingCard times={times} />
      <section class="card live-card" aria-labelledby="live-title">
        <div class="live-head">
          <h2 id="live-title">What goes by</h2>
          <LiveTold feed={feed} isReached={isReached} isRunning={isRunning} shown={shown.length} />
          <button type="button" class="button live-pause" aria-pressed={isPaused} onClick={pauseOrResume}>
            <Icon name={isPaused ? 'play' : 'pause'} size={14} />
            {isPaused ? 'Go on' : 'Pause'}
          </button>
        </div>
        <LiveTools
          models={feed.models}
          canClear={feed.calls.length > 0}
          onClear={() => {
            feed.clear()
            resume()
            redraw()
          }}
        />
        {held.calls.length === 0 ? (
          <NothingYet feed={feed} isRunning={isRunning} />
        ) : (
          <LiveList
            box={box}
            held={held}
            signs={signs}
            times={times}
            onOpen={(id) => panel.open(id, 'chat')}
            onResume={resume}
          />
        )}
      </section>
      {address.call !== null && (
        <CallPanel
          id={address.call}
          times={times}
          fed={held.calls[openAt]}
          onClose={panel.close}
          {...(openAt < 0 ? {} : { onMove: move })}
        />
      )}
    </>
  )
}
