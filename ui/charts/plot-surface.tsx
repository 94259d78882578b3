import type { ComponentChildren, HTMLAttributes } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { bucketSpan, bucketStart, spanWords } from './bucket-words.ts'
import { useChartRoom } from './chart-room.tsx'
import { type ColourName } from './palette.ts'
import { type PointedCell, isReadByKeys, keyStep, levelAt } from './plot-keys.ts'
import {
  type Bounds,
  type TimeFrame,
  bucketAt,
  bucketBounds,
  bucketMiddle,
  percentOf,
  shareOfTime,
  snapToBuckets,
  spanStyle,
} from './time-frame.ts'

export interface PlotDot {
  /** 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly colour: ColourName
}

export interface PlotSurfaceProps {
  readonly frame: TimeFrame
  /** Names the plot for those who do not see it; null if another surface beside it tells all. */
  readonly label: string | null
  /** Figures of a bucket in words. */
  readonly speak: (index: number, level: number | null) => string
  /** The same to look at, if that is another. */
  readonly tip?: (index: number, level: number | null) => ComponentChildren
  /** Leads to the calls of a bucket. */
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
export function PlotSurface(props: PlotSurfaceProps) {
  const { frame, label, speak, tip, to, dots, levels = 0 } = props
  const times = useTimes()
  const { crosshair, zoom, zoomOut, onHold } = useChartRoom()
  const { address, go } = useNavigation()
  const [pointed, setPointed] = useState<PointedCell | null>(null)
  const [selected, setSelected] = useState<Bounds | null>(null)
  const [isPinned, setPinned] = useState(false)
  const surface = useRef<HTMLDivElement>(null)
  const marked = useRef<HTMLDivElement>(null)
  const press = useRef<{ readonly x: number; readonly ms: number; isDrag: boolean } | null>(null)
  const anchor = useRef<number | null>(null)
  const click = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = frame.startsMs.length - 1
  const keyed: PointedCell = {
    index: Math.max(0, Math.min(pointed?.index ?? last, last)),
    level: pointed?.level ?? null,
  }

  // Past the renderer: while the pointer moves, every plot of the page marks its instant.
  useLayoutEffect(() => {
    const mark = (ms: number | null): void => {
      const index = ms === null ? -1 : bucketAt(frame, ms)
      marked.current?.replaceChildren(...(index < 0 ? [] : crosshairMarks(frame, index, dots?.(index) ?? [])))
    }
    mark(crosshair.current)
    return crosshair.watch(mark)
  })
  useEffect(() => () => clearTimeout(click.current), [])
  // Not every surface takes the focus, whose loss would tell.
  useEffect(() => {
    if (!isPinned) return
    const leave = ({ target }: Event): void => {
      if (!(target instanceof Node && surface.current?.contains(target) === true)) clear()
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isPinned])

  const point = (cell: PointedCell | null): void => {
    if (cell?.index !== pointed?.index || cell?.level !== pointed?.level) setPointed(cell)
    crosshair.set(cell === null ? null : bucketMiddle(frame, cell.index))
  }
  const select = (bounds: Bounds | null, from: number | null = null): void => {
    anchor.current = from
    setSelected(bounds)
  }
  const open = ({ index, level }: PointedCell): void => go(to(bucketBounds(frame, index), level))
  const clear = (): void => {
    point(null)
    select(null)
    setPinned(false)
  }
  const cellAt = (event: PointerEvent): PointedCell & { readonly ms: number } => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
    const ms = Math.min(frame.fromMs + share * (frame.toMs - frame.fromMs), frame.toMs - 1)
    return { index: bucketAt(frame, ms), level: levelAt((event.clientY - box.top) / box.height, levels), ms }
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
      if (begun === null || (!begun.isDrag && Math.abs(event.clientX - begun.x) < dragPx)) return
      if (!begun.isDrag) onHold(true)
      begun.isDrag = true
      select(snapToBuckets(frame, begun.ms, cell.ms))
    },
    onPointerUp: (event) => {
      const begun = press.current
      press.current = null
      if (begun === null) return
      const cell = cellAt(event)
      if (begun.isDrag) {
        onHold(false)
        select(null)
        zoom(snapToBuckets(frame, begun.ms, cell.ms))
        return
      }
      clearTimeout(click.current)
      if (event.metaKey || event.ctrlKey) {
        const there = { ...address, ...to(bucketBounds(frame, cell.index), cell.level) }
        window.open(writeAddress(there), '_blank', 'noopener')
      } else if (zoomOut === null) open(cell)
      // The first half of a double click must not lead away.
      else click.current = setTimeout(() => open(cell), doubleClickMs)
    },
    onDblClick: () => {
      clearTimeout(click.current)
      zoomOut?.()
    },
    onPointerCancel: () => {
      if (press.current?.isDrag === true) onHold(false)
      press.current = null
      select(null)
    },
    onPointerLeave: ({ currentTarget, pointerType }) => {
      if (press.current === null && pointerType !== 'touch' && !isReadByKeys(currentTarget)) clear()
    },
    onFocus: (event) => {
      if (isReadByKeys(event.currentTarget)) point(keyed)
    },
    onBlur: clear,
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return
      const next = keyStep(event.key, keyed, last, levels)
      if (event.key === 'Enter') {
        if (selected === null) open(keyed)
        else zoom(selected)
        select(null)
      } else if (event.key === 'Escape' && selected !== null) select(null)
      else if (next !== null) {
        const from = event.shiftKey ? (anchor.current ?? keyed.index) : null
        select(from === null ? null : bucketsBetween(frame, from, next.index), from)
        point(next)
      } else return
      event.preventDefault()
    },
  }
  const span = selected && spanWords(times, frame, selected.fromMs, selected.toMs)
  const spoken = (): string => {
    if (last < 0) return 'Nothing to show'
    if (span !== null) return `${span} selected. Enter shows it alone.`
    return `${bucketStart(times, frame, keyed.index)}: ${speak(keyed.index, keyed.level)}`
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
          'aria-valuenow': keyed.index,
          'aria-valuetext': spoken(),
        }
  return (
    <>
      <div class="plot-surface" ref={surface} {...roles} {...handlers}>
        <div ref={marked} />
        {selected !== null && <span class="plot-selected chosen-span" style={spanStyle(frame, selected)} />}
      </div>
      {pointed !== null && pointed.index <= last && (
        <div
          class={`plot-tip ${isPinned ? 'is-pinned' : ''}`}
          style={tipPlace(shareOfTime(frame, bucketMiddle(frame, pointed.index)))}
          aria-hidden={!isPinned}
        >
          <p class="plot-tip-time">{span ?? bucketSpan(times, frame, pointed.index)}</p>
          {tip?.(pointed.index, pointed.level) ?? <p>{speak(pointed.index, pointed.level)}</p>}
          {isPinned && (
            // The press that leads there must not take the focus, and with it the tip, away before.
            <button
              class="text-link"
              type="button"
              onPointerDown={(event) => {
                event.preventDefault()
                event.stopPropagation()
              }}
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

function bucketsBetween(frame: TimeFrame, one: number, other: number): Bounds {
  return {
    fromMs: bucketBounds(frame, Math.min(one, other)).fromMs,
    toMs: bucketBounds(frame, Math.max(one, other)).toMs,
  }
}

/** A bar over the bucket, and dots upon its values. */
function crosshairMarks(frame: TimeFrame, index: number, dots: readonly PlotDot[]): HTMLElement[] {
  const mark = (name: string, style: Readonly<Record<string, string>>): HTMLElement => {
    const span = document.createElement('span')
    span.className = name
    Object.assign(span.style, style)
    return span
  }
  const left = percentOf(shareOfTime(frame, bucketMiddle(frame, index)))
  return [
    mark('plot-pointed', spanStyle(frame, bucketBounds(frame, index))),
    ...dots.map(({ height, colour }) =>
      mark('plot-dot', { left, bottom: percentOf(height), background: `var(--${colour})` }),
    ),
  ]
}

const tipWidth = '13rem'

/** Beside what it tells of, and never beyond the plot. */
function tipPlace(share: number): { readonly left: string } | { readonly right: string } {
  const beside = (share: number): string =>
    `clamp(0px, calc(${percentOf(share)} + 0.75rem), calc(100% - ${tipWidth}))`
  return share < 0.5 ? { left: beside(share) } : { right: beside(1 - share) }
}
