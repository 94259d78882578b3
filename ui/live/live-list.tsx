import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { CallTag } from '../call/call-tag.tsx'
import { type ListColumn, LongTable } from '../call/long-table.tsx'
import { useVirtualRows } from '../call/virtual-rows.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { writeAddress } from '../data/page-address.ts'
import { Icon, StateMark } from '../design/icon.tsx'
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
      <LongTable
        box={box}
        list={list}
        label="Calls, newest first"
        class="list-scroller fills"
        columns={useMemo(() => columnsOf(times), [times])}
        gridClass="live-row"
        linkOf={({ id }) => ({ href: writeAddress({ ...address, call: id, tab: 'chat' }) })}
        versionOf={({ version }) => version}
        total={calls.length}
        openId={address.call}
        isLeftByEscape
      />
    </div>
  )
}

function columnsOf(times: Times): readonly ListColumn<LiveCall>[] {
  return [
    {
      name: 'time',
      words: 'Time',
      class: 'quiet',
      cell: ({ startedMs }) => <time title={times.inUtc(startedMs)}>{times.seconds(startedMs)}</time>,
    },
    { name: 'state', words: 'State', cell: (call) => <State call={call} /> },
    { name: 'model', words: 'Model', cell: ({ model, path }) => shownText(model ?? path) },
    { name: 'prompt', words: 'Prompt', class: 'live-prompt quiet', cell: ({ promptWords }) => promptWords },
    { name: 'answer', words: 'Response', class: 'live-answer', cell: ({ answerWords }) => answerWords },
    {
      name: 'took',
      words: 'Duration',
      class: 'live-took figure',
      cell: ({ ended, durationMs, isLost, startedMs }) =>
        ended !== null ? orDash(durationMs, duration) : isLost ? '' : <Elapsed sinceMs={startedMs} />,
    },
  ]
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
