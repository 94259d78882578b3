import type { ComponentChildren } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import type { PageAddress } from '../data/page-address.ts'
import { Card } from '../design/card.tsx'
import { count, counted } from '../format/figures.ts'
import { axisDuration } from './chart-scale.ts'
import { type Heat, binWords, heatShare, heatTicks, mostCalls, withRoom } from './heat-cells.ts'
import { type Draw, Plot } from './plot.tsx'
import { rectPath } from './svg-path.ts'
import { type Bounds, type BucketRange, type TimeFrame, bucketBounds, shareOfTime } from './time-frame.ts'

export interface HeatMapProps {
  readonly about?: ComponentChildren
  readonly frame: TimeFrame
  readonly heat: Heat
  /** Returns the address of a bucket's calls. For a cell, the durations are from `minMs` to `maxMs`. */
  readonly to: (bounds: Bounds, minMs: number | null, maxMs: number | null) => Partial<PageAddress>
  readonly empty: string
}

const title = 'Latency distribution'
const heightPx = 220
const maxTicks = 12
const gapPx = 1
/** Columns narrower than this have no gaps, which would take half of the width. */
const leastGappedPx = 6
const legendShares = [0, 0.25, 0.5, 0.75, 1] as const

/** A map of calls by time and duration. */
export function HeatMap({ about, frame, to, empty, ...rest }: HeatMapProps) {
  const heat = useMemo(() => withRoom(rest.heat), [rest.heat])
  const most = useMemo(() => mostCalls(heat), [heat])
  const bins = Math.max(0, heat.limits_ms.length - 1)
  const draw = useCallback<Draw>(
    (width, height) => {
      /** The path of each shade. */
      const paths = new Map<string, string>()
      for (const [index, column] of heat.counts.entries()) {
        const { fromMs, toMs } = bucketBounds(frame, index)
        const left = Math.round(shareOfTime(frame, fromMs) * width)
        const right = Math.round(shareOfTime(frame, toMs) * width)
        const gap = right - left < leastGappedPx ? 0 : gapPx
        for (const [bin, calls] of column.entries()) {
          if (calls === 0) continue
          const box = {
            left,
            right: Math.max(left + 1, right - gap),
            top: Math.round(height * (1 - (bin + 1) / bins)),
            bottom: Math.round(height * (1 - bin / bins)) - gapPx,
          }
          const shade = heatShare(calls, most).toFixed(2)
          paths.set(shade, (paths.get(shade) ?? '') + rectPath(box))
        }
      }
      return [...paths].map(([shade, d]) => ({ kind: 'area', colour: 'accent', opacity: Number(shade), d }))
    },
    [frame, heat],
  )
  const words = (buckets: BucketRange, level: number | null): string => {
    const columns = heat.counts.slice(buckets.first, buckets.last + 1)
    if (level === null) return counted(sum(columns.flat()), 'call')
    return `${binWords(heat, level)}: ${counted(sum(columns.map((column) => column[level] ?? 0)), 'call')}`
  }
  return (
    <Card title={title} about={about} class="heat-map">
      <div class="heat-hint row finest">
        <p>Click a cell to see its calls.</p>
        {most > 1 && (
          <span
            class="heat-legend row finest"
            role="img"
            aria-label={`Darker cells have more calls, up to ${count(most)}`}
          >
            1
            <span>
              {legendShares.map((share) => (
                <span key={share} style={{ opacity: heatShare(most ** share, most) }} />
              ))}
            </span>
            {count(most)} calls
          </span>
        )}
      </div>
      <Plot
        frame={frame}
        heightPx={heightPx}
        ticks={heatTicks(heat, maxTicks).map(({ bin, ms }) => ({
          height: bin / bins,
          words: axisDuration(ms),
        }))}
        hasTimes={true}
        draw={draw}
        empty={most === 0 ? empty : null}
        label={title}
        levels={bins}
        speak={words}
        to={(bounds, level) => to(bounds, ...limitsOf(heat, level))}
      />
    </Card>
  )
}

function limitsOf({ limits_ms: limits }: Heat, level: number | null): [number | null, number | null] {
  if (level === null) return [null, null]
  return [limits[level] ?? null, limits[level + 1] ?? null]
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, calls) => all + calls, 0)
}
