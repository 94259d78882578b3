import type { LinearOptions } from './chart-scale.ts'
import type { ColourName } from './palette.ts'
import type { PageAddress } from '../data/page-address.ts'
import type { TimeFrame } from './time-frame.ts'

/** One measure over time, as it is drawn, told and written. */
export interface ChartSeries {
  readonly key: string
  readonly words: string
  readonly colour: ColourName
  readonly kind: 'line' | 'bars' | 'dots'
  readonly isDashed?: boolean
  /** Bars as a calm area with an edge above, for what is high as a rule. */
  readonly isSoft?: boolean
  /** Fills the room below it: to the bottom, or to the series of that key. */
  readonly fillTo?: string
  /** One for each bucket; null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** Of dots, all of each bucket; `values` are then the highest. */
  readonly each?: readonly (readonly number[])[]
  /** Stands upon the series of the first of these keys that is shown. */
  readonly standsOn?: readonly string[]
  readonly show: (value: number) => string
  /** In place of a value that is held back, why; null where there is nothing to hold back. */
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
export interface PartFigure {
  readonly value: string
  readonly words: string
  /** Whether it is out of the ordinary. */
  readonly isTelling?: boolean
}

/** One of the plots of a chart, one below the other over the same time. */
export interface ChartPart {
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
  readonly heightPx: number
  readonly linear: LinearOptions
  /** Values at the side. */
  readonly axis: (value: number) => string
  /** Begins logarithmic, and can be switched. */
  readonly isLog?: boolean
  /** Above it, where it is not the first: only that one has a legend. */
  readonly words?: string
  /** What it comes to in one figure, beside it. */
  readonly figure?: PartFigure
  /** Of the calls of a bucket, those that it is about; all unless told. */
  readonly only?: Partial<PageAddress>
}

/** Where a series is drawn: a stacked one on top of what it stands on. */
export function drawnValues(series: ChartSeries, all: readonly ChartSeries[]): readonly (number | null)[] {
  const below = seriesBelow(series, all)
  if (below === undefined) return series.values
  const feet = drawnValues(below, all)
  return series.values.map((value, index) => {
    const foot = feet[index] ?? null
    return value === null && foot === null ? null : (value ?? 0) + (foot ?? 0)
  })
}

/** What a series stands upon, of those that are shown. */
export function seriesBelow(
  { standsOn = [] }: ChartSeries,
  all: readonly ChartSeries[],
): ChartSeries | undefined {
  for (const one of standsOn) {
    const found = all.find(({ key }) => key === one)
    if (found !== undefined) return found
  }
  return undefined
}

/** What a bucket's figures are, to be listened to: `p95 10.6 s, p50 4.30 s`. */
export function speech(series: readonly ChartSeries[], index: number): string {
  return series.map((one) => `${one.words} ${figureOf(one, index)}`).join(', ')
}

/** A value of a series in words, or why it has none. */
export function figureOf({ values, each, show, missing }: ChartSeries, index: number): string {
  const all = each?.[index] ?? []
  if (all.length > 0)
    return all
      .toSorted((one, other) => one - other)
      .map(show)
      .join(', ')
  const value = values[index] ?? null
  return value === null ? (missing?.(index) ?? '–') : show(value)
}
