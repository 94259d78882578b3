import './log-lines.css'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { LogLine, LogTail } from '../data/log-tail.ts'
import { Icon } from '../design/icon.tsx'
import { counted } from '../format/figures.ts'
import { useReading } from './use-reading.ts'

/** What a reader sees while lines are added behind it. */
interface Held {
  readonly lines: readonly LogLine[]
  readonly told: number
  readonly resets: number
}

/** The lines, with a way to the end where somebody reads before it. */
export function LogLines({ log }: { readonly log: LogTail }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [held, setHeld] = useState<Held | null>(null)
  const [, look] = useReducer((rounds: number) => rounds + 1, 0)
  const reading = useReading(box, (isRead) => {
    setHeld(isRead ? (before) => before ?? { lines: log.lines, told: log.told, resets: log.resets } : null)
  })
  useEffect(() => log.watch(() => look(0)), [log])

  // Other lines have taken the place of those that were read.
  const isHeld = held !== null && held.resets === log.resets
  const lines = isHeld ? held.lines : log.lines
  const news = isHeld ? log.told - held.told : 0
  useLayoutEffect(() => {
    if (!isHeld) reading.toEnd()
  }, [lines, isHeld])

  return (
    <div class="log-lines" onPointerEnter={reading.onPointerEnter} onPointerLeave={reading.onPointerLeave}>
      <div
        ref={box}
        id="log-lines"
        class="lines"
        role="region"
        aria-label="The gateway’s log"
        tabIndex={0}
        onScroll={reading.onScroll}
      >
        {lines.map(({ at, text }) => (
          <div key={at}>{text}</div>
        ))}
        {lines.length === 0 && <p class="empty">Nothing yet.</p>}
      </div>
      {isHeld && (news > 0 || reading.isAway()) && (
        <button
          type="button"
          class="button small to-end"
          onClick={() => {
            reading.leave()
            box.current?.focus({ preventScroll: true })
          }}
        >
          <Icon name="fall" size={14} />
          {news > 0 ? counted(news, 'new line') : 'To the end'}
        </button>
      )}
    </div>
  )
}
