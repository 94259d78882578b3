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
  /** True for a line that keeps its value for the whole bucket. */
  readonly isStepped?: boolean
  /** True if the values of several buckets are added up. */
  readonly isSum?: boolean
  /** True for bars that are a light area with an edge; for values that are usually high. */
  readonly isSoft?: boolean
  /** Fills the area below the line, down to the bottom or to the series with this key. */
  readonly fillTo?: string
  /** A value for each bucket; null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** The dots of each bucket. `values` then has the highest of each. */
  readonly dots?: readonly (readonly number[])[]
  /** Stacks the series on the first visible series of these keys. */
  readonly standsOn?: readonly string[]
  readonly show: (value: number) => string
  /** Returns the reason that a bucket's value is withheld; null if it is not. */
  readonly missing?: (index: number) => string | null
}

/** Returns a series of bars. */
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

/** A figure beside a plot. */
export interface PanelFigure {
  readonly value: string
  readonly words: string
  /** True if the figure is unusual. */
  readonly isTelling?: boolean
}

/** A plot of a chart, which has its plots one below the other. */
export interface ChartPanel {
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
  readonly heightPx: number
  readonly linear: LinearOptions
  /** Returns the text of a tick; `ticks` are all of them. */
  readonly axis: (value: number, ticks: readonly number[]) => string
  /** True if the scale starts logarithmic, and can be switched. */
  readonly isLog?: boolean
  readonly figure?: PanelFigure
}

/** Returns the heights to draw: a stacked series is added to the series below it. */
export function drawnValues(series: ChartSeries, all: readonly ChartSeries[]): readonly (number | null)[] {
  const below = seriesBelow(series, all)
  if (below === undefined) return series.values
  const feet = drawnValues(below, all)
  return series.values.map((value, index) => {
    const foot = feet[index] ?? null
    return value === null && foot === null ? null : (value ?? 0) + (foot ?? 0)
  })
}

/** Returns the visible series that a stacked one is on. */
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

/** Returns the figures of some buckets for a screen reader: `p95 10.6 s, p50 4.30 s`. */
export function speech(series: readonly ChartSeries[], buckets: BucketRange): string {
  return series.map((item) => `${item.words} ${figureOf(item, buckets)}`).join(', ')
}

/**
 * Returns the value of a bucket as a text, or the reason that it is missing. For several buckets, the text is their
 * sum, or their lowest and highest value, because percentiles cannot be added up.
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
