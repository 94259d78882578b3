import type { LinearOptions } from './chart-scale.ts'
import type { ColourName } from './palette.ts'
import { type BucketRange, type TimeFrame, sumOver } from './time-frame.ts'

/** A measure over time. */
export interface ChartSeries {
  readonly key: string
  readonly words: string
  readonly colour: ColourName
  readonly kind: 'line' | 'bars' | 'dots'
  readonly isDashed?: boolean
  /** A line that keeps its value for the whole of a bucket. */
  readonly isStepped?: boolean
  /** Values of several buckets add up. */
  readonly isSum?: boolean
  /** Draws bars as a light area with an edge, for values that are usually high. */
  readonly isSoft?: boolean
  /** Fills the area below the line: to the bottom, or to the series of this key. */
  readonly fillTo?: string
  /** A value for each bucket; null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** All dots of each bucket; `values` are then the highest. */
  readonly dots?: readonly (readonly number[])[]
  /** Stacks the series on the first visible one of these keys. */
  readonly standsOn?: readonly string[]
  readonly show: (value: number) => string
  /** The reason for a withheld value; null if no value is withheld. */
  readonly missing?: (index: number) => string | null
}

/** A series of bars. */
export function bars(
  key: string,
  words: string,
  colour: ColourName,
  values: ChartSeries['values'],
  show: ChartSeries['show'],
  standsOn: readonly string[] = [],
): ChartSeries {
  return { key, words, colour, kind: 'bars', values, show, standsOn }
}

/** A figure that is read before the plot beside it. */
export interface PanelFigure {
  readonly value: string
  readonly words: string
  /** True if it is out of the ordinary. */
  readonly isTelling?: boolean
}

/** A plot of a chart; the plots are below each other. */
export interface ChartPanel {
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
  readonly heightPx: number
  readonly linear: LinearOptions
  /** Values at the side; `ticks` are all of them. */
  readonly axis: (value: number, ticks: readonly number[]) => string
  /** Begins logarithmic, and can be switched. */
  readonly isLog?: boolean
  /** The figure beside the plot. */
  readonly figure?: PanelFigure
}

/** The values drawn: a stacked series is drawn on top of those below. */
export function drawnValues(series: ChartSeries, all: readonly ChartSeries[]): readonly (number | null)[] {
  const below = seriesBelow(series, all)
  if (below === undefined) return series.values
  const feet = drawnValues(below, all)
  return series.values.map((value, index) => {
    const foot = feet[index] ?? null
    return value === null && foot === null ? null : (value ?? 0) + (foot ?? 0)
  })
}

/** The shown series below a stacked one. */
export function seriesBelow(
  { standsOn = [] }: ChartSeries,
  all: readonly ChartSeries[],
): ChartSeries | undefined {
  for (const baseKey of standsOn) {
    const series = all.find(({ key }) => key === baseKey)
    if (series !== undefined) return series
  }
  return undefined
}

/** The figures of some buckets, for a screen reader: `p95 10.6 s, p50 4.30 s`. */
export function speech(series: readonly ChartSeries[], buckets: BucketRange): string {
  return series.map((item) => `${item.words} ${figureOf(item, buckets)}`).join(', ')
}

/**
 * A value of a series as text, or why it is missing. For several buckets it is their sum, or their lowest and highest value:
 * the percentile of a span does not follow from those of its parts.
 */
export function figureOf({ values, dots, isSum, show, missing }: ChartSeries, buckets: BucketRange): string {
  const { first, last } = buckets
  const single = dots?.[first] ?? []
  if (first === last && single.length > 0) {
    return single
      .toSorted((a, b) => a - b)
      .map(show)
      .join(', ')
  }
  const numbers = (dots?.slice(first, last + 1).flat() ?? values.slice(first, last + 1)).filter(
    (value) => value !== null,
  )
  if (numbers.length === 0) return (first === last ? missing?.(first) : null) ?? '–'
  if (isSum === true) return show(sumOver(buckets, (index) => values[index] ?? 0))
  const [low, high] = [show(Math.min(...numbers)), show(Math.max(...numbers))]
  return low === high ? low : `${low} – ${high}`
}
