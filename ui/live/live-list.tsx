import './live-list.css'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { useHeightBelow } from '../design/use-height-below.ts'
import { useMedia } from '../design/use-media.ts'
import { useVirtualRows } from '../design/use-virtual-rows.ts'
import { Icon } from '../design/icon.tsx'
import { count } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { useShortcuts } from '../design/keys.ts'
import type { LiveCall } from './live-call.ts'
import { LiveRow } from './live-row.tsx'
import type { HeldCalls, ReadingSigns } from './use-held.ts'

/** Of a row on one line, and on two where it is narrow, in pixels. */
const [linePx, twoLinesPx] = [36, 60]
/** As near to the newest counts as at it, in pixels. */
const nearPx = 8

export interface LiveListProps {
  readonly box: { current: HTMLDivElement | null }
  readonly held: HeldCalls
  readonly signs: ReadingSigns
  readonly times: Times
  readonly onOpen: (id: string) => void
  /** On with the newest. */
  readonly onResume: () => void
}

/** The calls of the feed, the newest at the top; only rows that are seen are there. */
export function LiveList({ box, held, signs, times, onOpen, onResume }: LiveListProps): JSX.Element {
  const { calls, news, isHeld } = held
  const { address } = useNavigation()
  const isNarrow = useMedia('(max-width: 47.99rem)')
  const rowPx = isNarrow ? twoLinesPx : linePx
  const [activeId, setActiveId] = useState<string | null>(null)
  const found = calls.findIndex(({ id }) => id === activeId)
  const active = Math.max(0, found)
  const { indexes, seen, show, toTop } = useVirtualRows({
    count: calls.length,
    rowPx,
    list: box,
    byWindow: false,
    headPx: 0,
    keep: found,
  })
  const heightPx = useHeightBelow(box)
  // A list that goes away is not told that the mouse has left it.
  useEffect(() => signs.clear, [])
  useLayoutEffect(() => {
    if (!isHeld) toTop()
  })

  const wantsFocus = useRef(false)
  const moveTo = (index: number): void => {
    const call = calls[Math.max(0, Math.min(index, calls.length - 1))]
    if (call === undefined) return
    wantsFocus.current = true
    setActiveId(call.id)
    show(calls.indexOf(call))
  }
  useLayoutEffect(() => {
    if (!wantsFocus.current || activeId === null) return
    const link = box.current?.querySelector<HTMLElement>(`[data-id="${activeId}"]`)
    if (link === null || link === undefined) return
    wantsFocus.current = false
    link.focus({ preventScroll: true })
  })
  // The list behind follows the panel, and gets the focus back from it.
  const lastOpen = useRef<string | null>(null)
  useEffect(() => {
    const before = lastOpen.current
    lastOpen.current = address.call
    if (address.call !== null) setActiveId(address.call)
    else if (before !== null) moveTo(calls.findIndex(({ id }) => id === before))
  }, [address.call])

  const isInList = (): boolean => box.current?.contains(document.activeElement) === true
  const stepBy = (step: number): void => {
    if (isInList() && found >= 0) moveTo(active + step)
    else moveTo(active >= seen.first && active < seen.end ? active : seen.first)
  }
  useShortcuts('Live', [
    { key: 'j', words: 'Next call', run: () => stepBy(1) },
    { key: 'k', words: 'Previous call', run: () => stepBy(-1) },
  ])
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: calls.length - 1 }[event.key]
    if (event.key === 'Escape') (document.activeElement as HTMLElement).blur()
    if (next === undefined) return
    event.preventDefault()
    moveTo(next)
  }
  const latest = useRef(onOpen)
  latest.current = onOpen
  const [handlers] = useState(() => ({
    onFocus: (call: LiveCall) => setActiveId(call.id),
    onPress: (event: MouseEvent, call: LiveCall) => {
      // With a key held down the browser opens the link elsewhere; and what is being selected is no press.
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      if (getSelection()?.type === 'Range') return
      latest.current(call.id)
    },
  }))

  return (
    <div class="live-list">
      {isHeld && news > 0 && (
        <button type="button" class="new-calls live-pill" onClick={onResume}>
          <Icon name="up" size={14} />
          {count(news)} new
        </button>
      )}
      <div
        ref={box}
        class="live-scroller"
        style={{ height: `${heightPx}px` }}
        // A finger that touches it is about to scroll, which is told on its own.
        onPointerEnter={({ pointerType }) => signs.set('isOver', pointerType === 'mouse')}
        onPointerLeave={() => signs.set('isOver', false)}
        // The focus that a mouse leaves behind is nobody's reading.
        onFocusIn={({ target }) =>
          signs.set('isFocused', target instanceof Element && target.matches(':focus-visible'))
        }
        onFocusOut={() => signs.set('isFocused', false)}
        onScroll={({ currentTarget }) => signs.set('isAway', currentTarget.scrollTop > nearPx)}
        onKeyDown={press}
      >
        <ol aria-label="Calls, the newest first" style={{ height: `${calls.length * rowPx}px` }}>
          {indexes.map((index) => {
            const call = calls[index]
            return (
              call !== undefined && (
                <LiveRow
                  key={call.id}
                  call={call}
                  version={call.version}
                  index={index}
                  count={calls.length}
                  topPx={index * rowPx}
                  times={times}
                  address={address}
                  isActive={index === active}
                  {...handlers}
                />
              )
            )
          })}
        </ol>
      </div>
    </div>
  )
}
