import './volume-strip.css'
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { timeTicks } from '../charts/time-ticks.ts'
import { count, counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import type { CallVolume } from './use-call-volume.ts'
import { useMedia } from '../design/use-media.ts'
import type { VolumeBar, VolumeUnit } from './volume-bars.ts'

export interface VolumeStripProps {
  readonly volume: CallVolume
  readonly times: Times
  readonly onZoom: (fromMs: number, toMs: number) => void
}

/** Of the drawing, in its own units: calls grow upwards from the base line, failed ones downwards. */
const [roomX, baseY, roomY] = [1000, 42, 56]
const leastY = 1.5

/** How many calls there were by and by, and how many of them failed. What is dragged over becomes the range. */
export function VolumeStrip({ volume, times, onZoom }: VolumeStripProps): JSX.Element {
  const { bars, unit, minutes, bounds, note } = volume
  const { fromMs, toMs } = bounds
  const plot = useRef<HTMLDivElement>(null)
  const isNarrow = useMedia('(max-width: 40rem)')
  const edge = isNarrow ? 0.07 : 0.03
  const [at, setAt] = useState<number | null>(null)
  const [drag, setDrag] = useState<readonly [fromMs: number, toMs: number] | null>(null)
  // Known at once, however late the strip is drawn anew.
  const pressed = useRef<number | null>(null)
  const mostCalls = Math.max(1, ...bars.map(({ calls }) => calls))
  const mostErrors = Math.max(0, ...bars.map(({ errors }) => errors))
  // Failed calls have a scale of their own, on which a few of many stay as small as they are.
  const errorScale = Math.max(mostErrors, mostCalls / 10)
  // Where only failed calls are asked for, they are all there is.
  const areAllFailed = bars.length > 0 && bars.every(({ calls, errors }) => calls === errors)
  const spanMs = Math.max(1, toMs - fromMs)
  const shareOf = (ms: number): number => (ms - fromMs) / spanMs
  const marked = at === null ? undefined : bars[Math.min(at, bars.length - 1)]

  const instantAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect()
    return fromMs + Math.min(1, Math.max(0, (event.clientX - left) / width)) * spanMs
  }
  const barAt = (ms: number): number | null => {
    const index = bars.findIndex((bar) => ms >= bar.startMs && ms < bar.endMs)
    return index < 0 ? null : index
  }
  const zoomTo = ([one, other]: readonly [number, number]): void => {
    // Whole bars, where there are any: what is seen is what is meant.
    const [first, last] = [Math.min(one, other), Math.max(one, other)]
    const [from, to] = [bars[barAt(first) ?? -1], bars[barAt(last) ?? -1]]
    const [startMs, endMs] = [from?.startMs ?? first, to?.endMs ?? last]
    if (endMs - startMs >= 1000) onZoom(Math.floor(startMs), Math.ceil(endMs))
  }
  const endDrag = (): void => {
    pressed.current = null
    setDrag(null)
  }
  const press = (event: KeyboardEvent): void => {
    const last = bars.length - 1
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key]
    if (event.key === 'Enter' && marked !== undefined) onZoom(marked.startMs, marked.endMs)
    else if (event.key === 'Home') setAt(0)
    else if (event.key === 'End') setAt(last)
    else if (step !== undefined) setAt(Math.max(0, Math.min(last, (at ?? last) + step)))
    else return
    event.preventDefault()
  }
  const told =
    drag !== null && drag[0] !== drag[1]
      ? `${times.dayAndClock(Math.min(...drag))} – ${times.dayAndClock(Math.max(...drag))}`
      : marked === undefined
        ? null
        : barWords(marked, unit, times)

  return (
    <div class="volume">
      <div class="volume-head">
        <h2>Calls per {minutes > 1 ? `${minutes} minutes` : unit}</h2>
        {bars.length > 0 && (
          <span class={`volume-key ${areAllFailed ? 'failed' : ''}`}>
            {areAllFailed ? 'Failed' : 'All'}, at most {count(mostCalls)}
          </span>
        )}
        {mostErrors > 0 && !areAllFailed && (
          <span class="volume-key failed">Failed, at most {count(mostErrors)}</span>
        )}
        <span class="volume-told">
          {note ?? told ?? (bars.length === 0 ? '' : 'Drag over the bars to look closer')}
        </span>
      </div>
      <div
        ref={plot}
        class="volume-plot"
        role="slider"
        tabIndex={0}
        aria-label="Calls over time; Enter looks closer"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={at ?? bars.length - 1}
        aria-valuetext={
          marked === undefined ? 'Arrow keys go through the bars' : barWords(marked, unit, times)
        }
        onKeyDown={press}
        onBlur={() => setAt(null)}
        onPointerDown={(event) => {
          if (event.button !== 0 || bars.length === 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          pressed.current = instantAt(event)
          setDrag([pressed.current, pressed.current])
        }}
        onPointerMove={(event) => {
          const ms = instantAt(event)
          setAt(barAt(ms))
          if (pressed.current !== null) setDrag([pressed.current, ms])
        }}
        onPointerUp={(event) => {
          if (pressed.current !== null) zoomTo([pressed.current, instantAt(event)])
          endDrag()
        }}
        onPointerCancel={endDrag}
        onPointerLeave={() => setAt(null)}
      >
        <svg viewBox={`0 0 ${roomX} ${roomY}`} preserveAspectRatio="none" aria-hidden="true">
          <path
            class={areAllFailed ? 'volume-failed' : 'volume-calls'}
            d={barsPath(bars, shareOf, ({ calls }) => calls / mostCalls, baseY, -baseY)}
          />
          {!areAllFailed && (
            <path
              class="volume-failed"
              d={barsPath(bars, shareOf, ({ errors }) => errors / errorScale, baseY + 1, roomY - baseY - 1)}
            />
          )}
          <path class="volume-base" d={`M0 ${baseY}H${roomX}`} />
        </svg>
        {drag !== null ? (
          <Mark from={shareOf(Math.min(...drag))} to={shareOf(Math.max(...drag))} kind="brush" />
        ) : (
          marked !== undefined && <Mark from={shareOf(marked.startMs)} to={shareOf(marked.endMs)} kind="" />
        )}
      </div>
      <div class="volume-ticks" aria-hidden="true">
        {timeTicks(times, fromMs, toMs, isNarrow ? 4 : 8)
          .filter(({ ms }) => shareOf(ms) > edge && shareOf(ms) < 1 - edge)
          .map(({ ms, words }) => (
            <span key={ms} style={{ left: `${shareOf(ms) * 100}%` }}>
              {words}
            </span>
          ))}
      </div>
    </div>
  )
}

interface MarkProps {
  readonly from: number
  readonly to: number
  readonly kind: string
}

function Mark({ from, to, kind }: MarkProps): JSX.Element {
  return (
    <div
      class={`volume-mark ${kind}`}
      style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }}
    />
  )
}

/** One path for all bars: `heightOf` is a share of `roomOfY`, which is negative where bars grow upwards. */
function barsPath(
  bars: readonly VolumeBar[],
  shareOf: (ms: number) => number,
  heightOf: (bar: VolumeBar) => number,
  y: number,
  roomOfY: number,
): string {
  return bars
    .flatMap((bar) => {
      const share = heightOf(bar)
      if (share === 0) return []
      const x = shareOf(bar.startMs) * roomX
      const width = Math.max(0.5, (shareOf(bar.endMs) * roomX - x) * 0.84)
      const height = Math.sign(roomOfY) * Math.max(leastY, Math.abs(share * roomOfY))
      return [`M${x.toFixed(2)} ${y}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`]
    })
    .join('')
}

function barWords({ startMs, endMs, calls, errors }: VolumeBar, unit: VolumeUnit, times: Times): string {
  const when = unit === 'day' ? times.day(startMs) : `${times.dayAndClock(startMs)} – ${times.clock(endMs)}`
  return `${when}: ${counted(calls, 'call')}, ${errors === 0 ? 'none' : count(errors)} failed`
}
