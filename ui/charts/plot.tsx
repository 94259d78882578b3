import './plot.css'
import type { CSSProperties, ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useChartRoom } from './chart-room.tsx'
import { type Bounds, type TimeFrame, bucketBounds, partialBuckets, shareOfTime } from './time-frame.ts'
import { timeTicks } from './time-ticks.ts'

export interface PlotTick {
  /** 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly words: string
}

export interface PlotProps {
  readonly frame: TimeFrame
  /** Of what is drawn in, in pixels. */
  readonly heightPx: number
  readonly ticks: readonly PlotTick[]
  /** Whether times stand below. */
  readonly hasTimes: boolean
  /** Between the lines of the grid and what answers to pointer and keyboard. */
  readonly canvas: ComponentChildren
  readonly children: ComponentChildren
}

const pxPerTime = 60

/** A room with time from left to right: grid, labels, what happened, and over it what is drawn. */
export function Plot({ frame, heightPx, ticks, hasTimes, canvas, children }: PlotProps): JSX.Element {
  const { times, outages, marks } = useChartRoom()
  const room = useRef<HTMLDivElement>(null)
  const widthPx = useWidth(room)
  const below = useMemo(
    () => timeTicks(times, frame.fromMs, frame.toMs, Math.max(2, Math.floor(widthPx / pxPerTime))),
    [times, frame, widthPx],
  )
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  const span = ({ fromMs, toMs }: Bounds): CSSProperties => {
    const left = shareOfTime(frame, fromMs)
    return { left: percent(left), width: percent(shareOfTime(frame, toMs) - left) }
  }
  const isWithin = (ms: number): boolean => ms >= frame.fromMs && ms < frame.toMs
  return (
    <div class={`plot ${hasTimes ? '' : 'without-times'}`}>
      <div ref={room} class="plot-room" style={{ height: `${heightPx}px` }}>
        <div class="plot-ground" aria-hidden="true">
          {ticks.map(({ height, words }) => (
            <span key={words} class="plot-line" style={{ bottom: percent(height) }}>
              <span class="plot-value">{words}</span>
            </span>
          ))}
          {hasTimes &&
            below.map(({ ms, words }) => (
              <span
                key={ms}
                class={`plot-time ${edgeOf(shareOfTime(frame, ms), widthPx)}`}
                style={{ left: percent(shareOfTime(frame, ms)) }}
              >
                {words}
              </span>
            ))}
          {outages
            .filter(({ fromMs, toMs }) => toMs > frame.fromMs && fromMs < frame.toMs)
            .map((outage) => (
              <span key={outage.fromMs} class="plot-outage" style={span(outage)} />
            ))}
        </div>
        {widthPx > 0 && canvas}
        <div class="plot-ground" aria-hidden="true">
          {partialBuckets(frame).map((index) => (
            <span key={index} class="plot-veil" style={span(bucketBounds(frame, index))} />
          ))}
          {marks
            .filter(({ ms }) => isWithin(ms))
            .map(({ ms }) => (
              <span key={ms} class="plot-mark" style={{ left: percent(shareOfTime(frame, ms)) }} />
            ))}
        </div>
        {children}
      </div>
    </div>
  )
}

/** A label that would reach beyond the edge stands beside its time in place of below it. */
function edgeOf(share: number, widthPx: number): string {
  const px = share * widthPx
  return px > widthPx - 20 ? 'at-end' : ''
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [widthPx, setWidthPx] = useState(0)
  useLayoutEffect(() => {
    const measured = element.current
    if (measured === null) return
    setWidthPx(measured.clientWidth)
    const resizing = new ResizeObserver(() => setWidthPx(measured.clientWidth))
    resizing.observe(measured)
    return () => resizing.disconnect()
  }, [element])
  return widthPx
}
