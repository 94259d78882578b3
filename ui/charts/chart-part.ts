import type { LinearOptions } from './chart-scale.ts'
import type { ChartSeries } from './chart-series.ts'
import type { TimeFrame } from './time-frame.ts'

/** A figure that is read before the plot beside it. */
export interface PartFigure {
  readonly value: string
  readonly words: string
  /** Whether it is out of the ordinary. */
  readonly isTelling: boolean
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
}
