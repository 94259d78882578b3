import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { CallTag } from '../call/call-tag.tsx'
import { type RowPlace, useVirtualRows } from '../call/virtual-rows.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { Icon, StateMark } from '../design/icon.tsx'
import { PureComponent } from '../call/pure-component.ts'
import { useHeightBelow } from '../design/use-window.ts'
import type { Reading } from '../design/use-reader-presence.ts'
import { useTick } from '../design/use-tick.ts'
import { count, duration, orDash, longDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { shownText } from '../payloads/shown-text.ts'
import type { LiveCall } from '../payloads/live-call.ts'
import { liveStates } from './board-rows.ts'

export interface LiveListProps {
  readonly box: RefObject<HTMLDivElement | null>
  readonly calls: readonly LiveCall[]
  /** The number of calls since the list was paused. */
  readonly news: number
  readonly isHeld: boolean
  readonly reading: Reading
  /** True if j and k move through this list. */
  readonly hasKeys: boolean
  readonly onOpen: (id: string) => void
  /** Continues with the newest calls. */
  readonly onResume: () => void
}

/** The calls of the feed, newest first. Only visible rows are rendered. */
export function LiveList(props: LiveListProps) {
  const { box, calls, news, isHeld, reading, hasKeys, onOpen, onResume } = props
  const { address } = useNavigation()
  const times = useTimes()
  const list = useVirtualRows({ title: 'Live', all: calls, list: box, hasKeys, onOpen })
  const heightPx = useHeightBelow(box)
  // A list that is removed gets no event when the mouse leaves, so the sign of reading is cleared here.
  useEffect(() => reading.leave, [])
  useLayoutEffect(() => {
    if (!isHeld) list.toTop()
  })
  return (
    <div class="live-list" {...reading.listeners}>
      {isHeld && news > 0 && (
        <button type="button" class="news-pill over-list live-pill" onClick={onResume}>
          <Icon name="up" size={14} />
          {count(news)} new
        </button>
      )}
      <div
        ref={box}
        class="list-scroller"
        style={{ height: `${heightPx}px` }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') (document.activeElement as HTMLElement).blur()
          else list.onKeyDown(event)
        }}
      >
        <ol aria-label="Calls, newest first" style={{ height: `${list.heightPx}px` }}>
          {list.rows.map(({ row: call, place }) => (
            <LiveRow
              key={call.id}
              call={call}
              version={call.version}
              times={times}
              address={address}
              {...place}
            />
          ))}
        </ol>
      </div>
    </div>
  )
}

interface LiveRowProps extends RowPlace {
  readonly call: LiveCall
  /** The version of the call, because the call stays the same object. */
  readonly version: number
  readonly times: Times
  readonly address: PageAddress
}

/** A call of the feed on a line. */
class LiveRow extends PureComponent<LiveRowProps> {
  override render() {
    const { call, index, count, topPx, times, address, isActive, onFocus, onPress } = this.props
    const { id, startedMs, model, path, promptWords, answerWords, ended, durationMs, isLost } = call
    return (
      <li aria-setsize={count} aria-posinset={index + 1} style={{ top: `${topPx}px` }}>
        <a
          class="list-row live-row"
          data-id={id}
          href={writeAddress({ ...address, call: id, tab: 'chat' })}
          tabIndex={isActive ? 0 : -1}
          aria-current={id === address.call ? 'true' : undefined}
          onFocus={() => onFocus(id)}
          onClick={(event) => onPress(event, id)}
        >
          <time class="quiet" title={times.inUtc(startedMs)}>
            {times.seconds(startedMs)}
          </time>
          <span>
            <State call={call} />
          </span>
          <span>{shownText(model ?? path)}</span>
          <span class="live-prompt quiet">{promptWords}</span>
          <span class="live-answer">{answerWords}</span>
          <span class="live-took figure">
            {ended !== null ? orDash(durationMs, duration) : isLost ? '' : <Elapsed sinceMs={startedMs} />}
          </span>
        </a>
      </li>
    )
  }
}

function State({ call: { ended, state, isLost } }: { readonly call: LiveCall }) {
  if (ended !== null) return <CallTag call={ended} />
  if (state === 'over') return <span class="quiet">Ended</span>
  if (isLost) {
    return (
      <span class="quiet" title="The connection to the gateway was lost, or records were skipped.">
        End unknown
      </span>
    )
  }
  return (
    <span class={state === 'queued' ? 'live-waiting' : 'live-running'}>
      <StateMark shape={state === 'streaming' ? 'half' : 'ring'} />
      {state === null ? 'In progress' : liveStates[state].words}
    </span>
  )
}

/** The time since `sinceMs` in whole seconds, so that it changes only once a second. */
function Elapsed({ sinceMs }: { readonly sinceMs: number }) {
  useTick()
  return <>{longDuration(Math.floor((nowMs() - sinceMs) / 1000))}</>
}
