import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useTimes } from '../data/navigation.tsx'
import { useWidth } from '../design/use-window.ts'
import { useChartRoom } from './chart-room.tsx'
import { PlotSurface, type PlotSurfaceProps } from './plot-surface.tsx'
import {
  bucketBounds,
  isBetween,
  overlaps,
  partialBuckets,
  percentOf,
  shareOfTime,
  spanStyle,
} from './time-frame.ts'
import { timeTicks } from './time-ticks.ts'

/** Draws all anew, in CSS pixels. Another function is another picture. */
export type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void

export interface PlotProps extends PlotSurfaceProps {
  /** Of what is drawn in, in pixels. */
  readonly heightPx: number
  readonly ticks: readonly PlotTick[]
  /** Whether times stand below. */
  readonly hasTimes: boolean
  readonly draw: Draw
  /** Over the plot if there is nothing to draw. */
  readonly empty: string | null
}

export interface PlotTick {
  /** 0 at the bottom, 1 at the top. */
  readonly height: number
  readonly words: string
}

const pxPerTime = 60
/** As much of a label lies beyond its time. */
const halfLabelPx = 20

/** A room with time from left to right: grid, labels, what happened, and over it what is drawn. */
export function Plot({ heightPx, ticks, hasTimes, draw, empty, ...surface }: PlotProps) {
  const { frame } = surface
  const times = useTimes()
  const { outages, marks } = useChartRoom()
  const room = useRef<HTMLDivElement>(null)
  const widthPx = useWidth(room)
  const below = useMemo(
    () => timeTicks(times, frame.fromMs, frame.toMs, Math.max(2, Math.floor(widthPx / pxPerTime))),
    [times, frame, widthPx],
  )
  return (
    <div class={`plot ${hasTimes ? '' : 'without-times'}`}>
      <div ref={room} class="plot-room" style={{ height: `${heightPx}px` }}>
        <div class="plot-ground" aria-hidden="true">
          {ticks.map(({ height, words }) => (
            <span key={words} class="plot-line" style={{ bottom: percentOf(height) }}>
              <span class="plot-value">{words}</span>
            </span>
          ))}
          {hasTimes &&
            below.map(({ ms, words }) => {
              const share = shareOfTime(frame, ms)
              // A label that would reach beyond the edge stands beside its time in place of below it.
              const isAtEnd = share * widthPx > widthPx - halfLabelPx
              return (
                <span
                  key={ms}
                  class={`plot-time ${isAtEnd ? 'at-end' : ''}`}
                  style={{ left: percentOf(share) }}
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
        {widthPx > 0 && <PlotCanvas draw={draw} />}
        <div class="plot-ground" aria-hidden="true">
          {partialBuckets(frame).map((index) => (
            <span key={index} class="plot-veil" style={spanStyle(frame, bucketBounds(frame, index))} />
          ))}
          {marks
            .filter(({ ms }) => isBetween(frame, ms))
            .map(({ ms }) => (
              <span key={ms} class="plot-mark" style={{ left: percentOf(shareOfTime(frame, ms)) }} />
            ))}
        </div>
        {empty !== null && <p class="plot-empty fine">{empty}</p>}
        <PlotSurface {...surface} />
      </div>
    </div>
  )
}

/** What is drawn in a plot. It fills its room, also if that becomes another. */
function PlotCanvas({ draw }: { readonly draw: Draw }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const redraw = (): void => {
      const { clientWidth: width, clientHeight: height } = element
      element.width = Math.round(width * devicePixelRatio)
      element.height = Math.round(height * devicePixelRatio)
      const context = element.getContext('2d')
      if (context === null) return
      context.scale(devicePixelRatio, devicePixelRatio)
      draw(context, width, height)
    }
    // It calls back at once, and whenever the room changes.
    const resizing = new ResizeObserver(redraw)
    resizing.observe(element)
    return () => resizing.disconnect()
  }, [draw])
  return <canvas ref={canvas} class="plot-canvas" />
}
