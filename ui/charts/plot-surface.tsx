import './plot-surface.css'
import type { CSSProperties, ComponentChildren, HTMLAttributes, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { bucketSpan, bucketStart, spanWords } from './bucket-words.ts'
import { useChartRoom } from './chart-room.tsx'
import { type ColourName } from './palette.ts'
import { type PointedCell, keyStep, levelAt } from './plot-keys.ts'
import {
  type Bounds,
  type TimeFrame,
  bucketAt,
  bucketBounds,
  bucketMiddle,
  shareOfTime,
  snapToBuckets,
} from './time-frame.ts'

export interface PlotDot {
  /** 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly colour: ColourName
}

export interface PlotSurfaceProps {
  readonly frame: TimeFrame
  /** What is shown, for those who do not see it; null where another surface beside it tells it all. */
  readonly label: string | null
  /** Figures of a bucket in words. */
  readonly speak: (index: number, level: number | null) => string
  /** The same to look at. */
  readonly tip: (index: number, level: number | null) => ComponentChildren
  /** Where the calls of a bucket are. */
  readonly to: (bounds: Bounds, level: number | null) => Partial<PageAddress>
  readonly dots?: (index: number) => readonly PlotDot[]
  /** Rows that can be pointed at, one above the other. */
  readonly levels?: number
}

/** A press that moves by less is a click. */
const dragPx = 5
/** In which a second click makes the first one half of a double click. */
const doubleClickMs = 250

/**
 * What answers to pointer and keyboard over a plot: it marks the bucket that is pointed at in all charts of the page,
 * tells its figures, zooms to what is dragged over, and leads to the calls of a bucket.
 */
export function PlotSurface(props: PlotSurfaceProps): JSX.Element {
  const { frame, label, speak, tip, to, dots, levels = 0 } = props
  const { times, crosshair, zoom, zoomOut, hold } = useChartRoom()
  const { address, go } = useNavigation()
  const [marked, setMarked] = useState(-1)
  const [pointed, setPointed] = useState<PointedCell | null>(null)
  const [selected, setSelected] = useState<Bounds | null>(null)
  const [isPinned, setPinned] = useState(false)
  const press = useRef<{ readonly x: number; readonly ms: number; isDrag: boolean } | null>(null)
  const anchor = useRef<number | null>(null)
  const click = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = frame.startsMs.length - 1
  const keyed = Math.min(pointed?.index ?? last, last)

  useEffect(() => {
    const follow = (): void => setMarked(crosshair.ms === null ? -1 : bucketAt(frame, crosshair.ms))
    follow()
    return crosshair.follow(follow)
  }, [crosshair, frame])
  useEffect(() => () => clearTimeout(click.current), [])

  const point = (cell: PointedCell | null): void => {
    if (cell?.index !== pointed?.index || cell?.level !== pointed?.level) setPointed(cell)
    crosshair.point(cell === null ? null : bucketMiddle(frame, cell.index))
  }
  const open = ({ index, level }: PointedCell): void => go(to(bucketBounds(frame, index), level))
  const clear = (): void => {
    point(null)
    setSelected(null)
    setPinned(false)
    anchor.current = null
  }
  const cellAt = (event: PointerEvent): PointedCell & { readonly ms: number } => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
    const ms = frame.fromMs + share * (frame.toMs - frame.fromMs)
    const level = levelAt((event.clientY - box.top) / box.height, levels)
    return { index: bucketAt(frame, Math.min(ms, frame.toMs - 1)), level, ms }
  }

  const handlers: HTMLAttributes<HTMLDivElement> = {
    onPointerDown: (event) => {
      if (event.button !== 0 || last < 0) return
      const cell = cellAt(event)
      point(cell)
      if (event.pointerType === 'touch') return setPinned(true)
      press.current = { x: event.clientX, ms: cell.ms, isDrag: false }
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: (event) => {
      if (last < 0) return
      const cell = cellAt(event)
      point(cell)
      const begun = press.current
      if (begun === null) return
      if (!begun.isDrag && Math.abs(event.clientX - begun.x) < dragPx) return
      if (!begun.isDrag) hold(true)
      begun.isDrag = true
      setSelected(snapToBuckets(frame, begun.ms, Math.min(cell.ms, frame.toMs - 1)))
    },
    onPointerUp: (event) => {
      const begun = press.current
      press.current = null
      if (begun === null) return
      if (begun.isDrag) {
        hold(false)
        const cell = cellAt(event)
        setSelected(null)
        zoom(snapToBuckets(frame, begun.ms, Math.min(cell.ms, frame.toMs - 1)))
        return
      }
      clearTimeout(click.current)
      const cell = cellAt(event)
      if (event.metaKey || event.ctrlKey) {
        window.open(
          writeAddress({ ...address, ...to(bucketBounds(frame, cell.index), cell.level) }),
          '_blank',
          'noopener',
        )
      } else if (zoomOut === null) open(cell)
      // The first half of a double click must not lead away.
      else click.current = setTimeout(() => open(cell), doubleClickMs)
    },
    onDblClick: () => {
      clearTimeout(click.current)
      zoomOut?.()
    },
    onPointerCancel: () => {
      if (press.current?.isDrag === true) hold(false)
      press.current = null
      setSelected(null)
    },
    onPointerLeave: (event) => {
      if (press.current === null && event.pointerType !== 'touch') clear()
    },
    onFocus: (event) => {
      if (event.currentTarget.matches(':focus-visible'))
        point({ index: keyed, level: pointed?.level ?? null })
    },
    onBlur: clear,
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return
      const cell = { index: keyed, level: pointed?.level ?? null }
      if (event.key === 'Enter') {
        event.preventDefault()
        if (selected === null) open(cell)
        else zoom(selected)
        setSelected(null)
        anchor.current = null
        return
      }
      if (event.key === 'Escape' && selected !== null) {
        event.preventDefault()
        setSelected(null)
        anchor.current = null
        return
      }
      const next = keyStep(event.key, cell, last, levels)
      if (next === null) return
      event.preventDefault()
      if (event.shiftKey) {
        anchor.current ??= cell.index
        const [one, other] = [bucketBounds(frame, anchor.current), bucketBounds(frame, next.index)]
        setSelected({ fromMs: Math.min(one.fromMs, other.fromMs), toMs: Math.max(one.toMs, other.toMs) })
      } else {
        anchor.current = null
        setSelected(null)
      }
      point(next)
    },
  }
  const roles: HTMLAttributes<HTMLDivElement> =
    label === null
      ? { 'aria-hidden': 'true' }
      : {
          role: 'slider',
          tabIndex: 0,
          'aria-label': label,
          'aria-valuemin': 0,
          'aria-valuemax': Math.max(0, last),
          'aria-valuenow': Math.max(0, keyed),
          'aria-valuetext':
            last < 0
              ? 'Nothing to show'
              : selected === null
                ? `${bucketStart(times, frame, keyed)}: ${speak(keyed, pointed?.level ?? null)}`
                : `${spanWords(times, frame, selected.fromMs, selected.toMs)} selected. Enter shows it alone.`,
        }
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  const bar = ({ fromMs, toMs }: Bounds): CSSProperties => {
    const left = shareOfTime(frame, fromMs)
    return { left: percent(left), width: percent(shareOfTime(frame, toMs) - left) }
  }
  const middle = marked < 0 ? 0 : shareOfTime(frame, bucketMiddle(frame, marked))
  return (
    <>
      <div class="plot-surface" {...roles} {...handlers}>
        {marked >= 0 && <span class="plot-pointed" style={bar(bucketBounds(frame, marked))} />}
        {selected !== null && <span class="plot-selected" style={bar(selected)} />}
        {marked >= 0 &&
          dots?.(marked).map(({ height, colour }, index) => (
            <span
              key={index}
              class="plot-dot"
              style={{ left: percent(middle), bottom: percent(height), background: `var(--${colour})` }}
            />
          ))}
      </div>
      {pointed !== null && pointed.index <= last && (
        <div
          class={`plot-tip ${isPinned ? 'is-pinned' : ''}`}
          style={tipPlace(middle)}
          aria-hidden={!isPinned}
        >
          <p class="plot-tip-time">
            {selected === null
              ? bucketSpan(times, frame, pointed.index)
              : spanWords(times, frame, selected.fromMs, selected.toMs)}
          </p>
          {tip(pointed.index, pointed.level)}
          {isPinned && (
            // The press that leads there must not take the focus, and with it the tip, away before.
            <button
              class="text-link"
              type="button"
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => open(pointed)}
            >
              Show these calls
            </button>
          )}
        </div>
      )}
    </>
  )
}

const tipWidth = '13rem'

/** Beside what it tells of, and never beyond the plot. */
function tipPlace(share: number): CSSProperties {
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`
  return share < 0.5
    ? { left: `clamp(0px, calc(${percent(share)} + 0.75rem), calc(100% - ${tipWidth}))` }
    : { right: `clamp(0px, calc(${percent(1 - share)} + 0.75rem), calc(100% - ${tipWidth}))` }
}
