import './charts.css'
import { type ComponentChildren, type HTMLAttributes, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { Observable, useObservable } from '../data/observable.ts'
import { textScale, useWidth } from '../design/use-window.ts'
import { bucketSpan, bucketStart, spanWords } from './bucket-text.ts'
import type { ChartMark } from './event-flags.ts'
import { PlotFlags } from './plot-flags.tsx'
import type { ColourName } from './palette.ts'
import { type PointedCell, isReadByKeys, keyStep, levelAt } from './plot-keys.ts'
import {
  type Bounds,
  type BucketRange,
  type TimeFrame,
  bucketAt,
  bucketBounds,
  bucketMiddle,
  bucketsBetween,
  isBetween,
  overlaps,
  partialBuckets,
  percentOf,
  rangeBounds,
  shareOfTime,
  spanStyle,
} from './time-frame.ts'
import type { DrawnPath } from './svg-path.ts'
import { timeTicks } from '../format/time-ticks.ts'
import { useZoom } from './zoom.ts'

/** Returns the drawing for a size in pixels. Another function draws again. */
export type Draw = (width: number, height: number) => readonly DrawnPath[]

/** A tick of an axis. */
export interface PlotTick {
  /** The share of the plot's height, 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly words: string
}

/** A dot on a series. */
export interface PlotDot {
  /** The share of the plot's height, 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly colour: ColourName
}

export interface PlotProps {
  readonly frame: TimeFrame
  /** The height of the drawing. */
  readonly heightPx: number
  readonly ticks: readonly PlotTick[]
  /** True if the plot has times below it. */
  readonly hasTimes: boolean
  readonly draw: Draw
  /** The text over an empty plot; null otherwise. */
  readonly empty: string | null
  /** The name for screen readers; null if another plot beside it speaks for both. */
  readonly label: string | null
  /** Returns the figures of some buckets as a text. */
  readonly speak: (buckets: BucketRange, level: number | null) => string
  /** Returns the content of the tooltip (default: the text of `speak`). */
  readonly tip?: (buckets: BucketRange) => ComponentChildren
  /** Returns the address of a bucket's calls; null if buckets cannot be opened or zoomed. */
  readonly to: ((bounds: Bounds, level: number | null) => Partial<PageAddress>) | null
  /** The bucket where the keyboard begins (default: the last). */
  readonly atFirst?: number | undefined
  readonly dots?: ((index: number) => readonly PlotDot[]) | undefined
  /** The number of rows that can be pointed at (default: none). */
  readonly levels?: number
}

/** The events in the range, which every chart marks. */
export const ChartEventsContext = createContext({
  /** Times without a gateway, which are shaded. */
  outages: [] as readonly Bounds[],
  marks: [] as readonly ChartMark[],
})

/** The instant (ms since the Unix epoch) that the reader points at. All charts mark it. */
const crosshair = new Observable<number | null>(null)

/** True while a span is being selected by dragging. No chart may change until then. */
export const isDragging = new Observable(false)

const [pxPerTime, pxPerName] = [60, 40]
const pxPerLetter = 6.2
/** In a narrower plot, a tooltip at the side would cover the pointed bucket. */
const smallPx = 448
/** The room that a tooltip above a plot needs in the window. */
const tipRoomPx = 200
/** A lower plot has no labels of events. */
const flaggedPx = 100
/** A press that moves less than this is a click. */
const dragPx = 5
/** The time in which a second click makes a double click. */
const doubleClickMs = 250

/**
 * A plot over time: grid, labels, events and a drawing. Pointer and keyboard mark a bucket in all charts of the
 * page and show its figures. A dragged span becomes the range, and a press opens the calls of a bucket.
 */
export function Plot(props: PlotProps) {
  const { frame, ticks, hasTimes, draw, empty } = props
  const scale = textScale()
  const heightPx = Math.round(props.heightPx * scale)
  const times = useTimes()
  const { outages, marks } = useContext(ChartEventsContext)
  const room = useRef<HTMLDivElement>(null)
  const widthPx = useWidth(room)
  const below = useMemo(() => {
    const { names, fromMs, toMs } = frame
    if (names === undefined)
      return timeTicks(times, fromMs, toMs, Math.max(2, Math.floor(widthPx / (pxPerTime * scale))))
    const every = Math.ceil((names.length * pxPerName * scale) / widthPx)
    return names
      .map(([words], index) => ({ ms: bucketMiddle(frame, index), words }))
      .filter((_, index) => (names.length - 1 - index) % every === 0)
  }, [times, frame, widthPx])
  const drawing = useMemo(
    () =>
      (widthPx === 0 ? [] : draw(widthPx, heightPx)).map(({ kind, colour, opacity, d }, index) => (
        <path
          key={index}
          class={`drawn-${kind}`}
          style={{ color: `var(--${colour})` }}
          {...(opacity !== undefined && { opacity })}
          d={d}
        />
      )),
    [draw, widthPx, heightPx],
  )
  return (
    <div class={`plot ${hasTimes ? '' : 'without-times'}`}>
      <div ref={room} class="plot-room" style={{ height: `${heightPx}px` }}>
        <div class="plot-ground" aria-hidden="true">
          {ticks.map(({ height, words }) => (
            <span key={height} class="plot-line" style={{ bottom: percentOf(height) }}>
              <span class="plot-value">{words}</span>
            </span>
          ))}
          {hasTimes &&
            below.map(({ ms, words }) => {
              const share = shareOfTime(frame, ms)
              // A label that would leave the plot is beside its time, not below it.
              const halfPx = (words.length * pxPerLetter * scale) / 2
              const isAtEnd = share * widthPx > widthPx - halfPx
              // Values at the side leave room for the first label.
              const isAtStart = share * widthPx < halfPx && ticks.every(({ words }) => words === '')
              return (
                <span
                  key={ms}
                  class="plot-time"
                  style={{ '--share': isAtEnd ? 1 : isAtStart ? 0 : 0.5, left: percentOf(share) }}
                >
                  {words}
                </span>
              )
            })}
          {outages
            .filter((outage) => overlaps(outage, frame))
            .map((outage) => (
              <span key={outage.fromMs} class="plot-outage" style={spanStyle(frame, outage)} />
            ))}
        </div>
        <svg class="plot-drawing" aria-hidden="true">
          {drawing}
        </svg>
        <div class="plot-ground" aria-hidden="true">
          {partialBuckets(frame).map((index) => (
            <span key={index} class="plot-veil" style={spanStyle(frame, bucketBounds(frame, index))} />
          ))}
          {marks
            .filter(({ ms }) => isBetween(frame, ms))
            .map(({ ms }) => (
              <span
                key={ms}
                class={`plot-mark ${props.heightPx < flaggedPx ? 'is-tick' : ''}`}
                style={{ left: percentOf(shareOfTime(frame, ms)) }}
              />
            ))}
        </div>
        {empty !== null && <p class="plot-empty fine">{empty}</p>}
        <PlotInteraction {...props} isSmall={widthPx < smallPx} />
        {props.heightPx >= flaggedPx && <PlotFlags frame={frame} marks={marks} widthPx={widthPx / scale} />}
      </div>
    </div>
  )
}

/** The part of a plot that handles pointer and keyboard. */
function PlotInteraction(props: PlotProps & { readonly isSmall: boolean }) {
  const { frame, label, speak, tip, to, dots, levels = 0, atFirst, isSmall } = props
  const times = useTimes()
  const { address, go } = useNavigation()
  const { zoom, zoomOut } = useZoom()
  const [pointed, setPointed] = useState<PointedCell | null>(null)
  /** The bucket where a selection began. The selection reaches to the pointed bucket. */
  const [anchor, setAnchor] = useState<number | null>(null)
  const [isPinned, setPinned] = useState(false)
  const surface = useRef<HTMLDivElement>(null)
  const press = useRef<{ readonly x: number; readonly index: number } | null>(null)
  const click = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = frame.startsMs.length - 1
  const cell: PointedCell = {
    index: Math.max(0, Math.min(pointed?.index ?? atFirst ?? last, last)),
    level: pointed?.level ?? null,
  }
  const buckets = bucketsBetween(anchor ?? cell.index, cell.index)
  const selected = anchor === null ? null : rangeBounds(frame, buckets)

  // Figures of another time may have come under a resting pointer.
  useLayoutEffect(() => {
    if (pointed !== null) crosshair.set(bucketMiddle(frame, cell.index))
  }, [frame])
  useEffect(
    () => () => {
      clearTimeout(click.current)
      crosshair.set(null)
      isDragging.set(false)
    },
    [],
  )
  // Some surfaces never get the focus, so a lost focus cannot unpin the tooltip.
  useEffect(() => {
    if (!isPinned) return
    const leave = ({ target }: Event): void => {
      if (!(target instanceof Node && surface.current?.contains(target) === true)) clear()
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isPinned])

  const point = (next: PointedCell | null): void => {
    if (next?.index !== pointed?.index || next?.level !== pointed?.level) setPointed(next)
    crosshair.set(next === null ? null : bucketMiddle(frame, next.index))
  }
  const clear = (): void => {
    point(null)
    setAnchor(null)
    setPinned(false)
  }
  const placeOf = ({ index, level }: PointedCell): Partial<PageAddress> =>
    to?.(bucketBounds(frame, index), level) ?? {}
  const open = (cell: PointedCell): void => go(placeOf(cell))
  const cellAt = (event: PointerEvent): PointedCell => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
    const ms = Math.min(frame.fromMs + share * (frame.toMs - frame.fromMs), frame.toMs - 1)
    return { index: bucketAt(frame, ms), level: levelAt((event.clientY - box.top) / box.height, levels) }
  }

  const handlers: HTMLAttributes<HTMLDivElement> = {
    onPointerDown: (event) => {
      if (event.button !== 0 || last < 0) return
      const at = cellAt(event)
      point(at)
      if (event.pointerType === 'touch') return setPinned(true)
      if (to === null) return
      press.current = { x: event.clientX, index: at.index }
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: (event) => {
      if (last < 0) return
      point(cellAt(event))
      const start = press.current
      if (start === null || isDragging.current || Math.abs(event.clientX - start.x) < dragPx) return
      isDragging.set(true)
      setAnchor(start.index)
    },
    onPointerUp: (event) => {
      const start = press.current
      press.current = null
      if (start === null) return
      const at = cellAt(event)
      if (isDragging.current) {
        isDragging.set(false)
        // The chart is about to show another range, so the pointed bucket is cleared.
        clear()
        zoom(rangeBounds(frame, bucketsBetween(start.index, at.index)))
        return
      }
      clearTimeout(click.current)
      if (event.metaKey || event.ctrlKey) {
        window.open(writeAddress({ ...address, ...placeOf(at) }), '_blank', 'noopener')
      } else if (zoomOut === null) open(at)
      // The first click of a double click must not open calls.
      else click.current = setTimeout(() => open(at), doubleClickMs)
    },
    onDblClick: () => {
      clearTimeout(click.current)
      if (to !== null) zoomOut?.()
    },
    onPointerCancel: () => {
      isDragging.set(false)
      press.current = null
      setAnchor(null)
    },
    onPointerLeave: ({ currentTarget, pointerType }) => {
      if (press.current === null && pointerType !== 'touch' && !isReadByKeys(currentTarget)) clear()
    },
    onFocus: (event) => {
      if (isReadByKeys(event.currentTarget)) point(cell)
    },
    onBlur: clear,
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return
      const next = keyStep(event.key, cell, last, levels)
      if (event.key === 'Enter' && to !== null) {
        if (selected === null) open(cell)
        else zoom(selected)
        setAnchor(null)
      } else if (event.key === 'Escape' && selected !== null) setAnchor(null)
      else if (next !== null) {
        setAnchor(event.shiftKey && to !== null ? (anchor ?? cell.index) : null)
        point(next)
      } else return
      event.preventDefault()
    },
  }
  const span = selected && spanWords(times, frame, selected.fromMs, selected.toMs)
  const spoken = (): string => {
    if (last < 0) return 'No data'
    const figures = speak(buckets, cell.level)
    if (span !== null) return `${span}: ${figures}, selected. Press Enter to zoom.`
    return `${bucketStart(times, frame, cell.index)}: ${figures}`
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
          'aria-valuenow': cell.index,
          'aria-valuetext': spoken(),
        }
  const share = shareOfTime(frame, bucketMiddle(frame, cell.index))
  const isBelow = label === null || (surface.current?.getBoundingClientRect().top ?? 0) < tipRoomPx
  const positionClass = isSmall ? (isBelow ? 'is-below' : 'is-above') : ''
  return (
    <>
      <div class="plot-surface" ref={surface} {...roles} {...handlers}>
        <Crosshair frame={frame} dots={dots} />
        {selected !== null && <span class="plot-selected chosen-span" style={spanStyle(frame, selected)} />}
      </div>
      {pointed !== null && pointed.index <= last && (
        <div
          class={`plot-tip ${isPinned ? 'is-pinned' : ''} ${positionClass} ${share < 0.5 ? '' : 'at-end'}`}
          style={{ '--beside': percentOf(share < 0.5 ? share : 1 - share) }}
          aria-hidden={!isPinned}
        >
          <p>{span ?? bucketSpan(times, frame, cell.index)}</p>
          {tip?.(buckets) ?? <p>{speak(buckets, cell.level)}</p>}
          {isPinned && to !== null && (
            // The press must not move the focus, because the tooltip with the button would close.
            <button
              class="text-link"
              type="button"
              onPointerDown={(event) => {
                event.preventDefault()
                event.stopPropagation()
              }}
              onClick={() => open(cell)}
            >
              Show calls
            </button>
          )}
        </div>
      )}
    </>
  )
}

/** A bar over the bucket that is pointed at in any chart, and dots on its values. */
function Crosshair({ frame, dots }: { readonly frame: TimeFrame; readonly dots: PlotProps['dots'] }) {
  const ms = useObservable(crosshair)
  // Charts without time do not follow the others.
  const index = ms === null || !isBetween(frame, ms) ? -1 : bucketAt(frame, ms)
  if (index < 0) return <></>
  const left = percentOf(shareOfTime(frame, bucketMiddle(frame, index)))
  return (
    <>
      <span class="plot-pointed" style={spanStyle(frame, bucketBounds(frame, index))} />
      {dots?.(index).map(({ height, colour }, at) => (
        <span
          key={at}
          class="plot-dot"
          style={{ left, bottom: percentOf(height), background: `var(--${colour})` }}
        />
      ))}
    </>
  )
}
