import { explained } from '../design/meanings.ts'
import type { ChartSeries } from './chart-series.ts'
import { minSample } from './small-sample.ts'

export interface ChartLegendProps {
  readonly series: readonly ChartSeries[]
  readonly hidden: ReadonlySet<string>
  readonly onToggle: (key: string) => void
  readonly hasOutages: boolean
  readonly hasMarks: boolean
}

/** The names of the series. A press hides or shows one. */
export function ChartLegend(props: ChartLegendProps) {
  const { series, hidden, onToggle, hasOutages, hasMarks } = props
  return (
    <div class="chart-legend row wraps">
      {series.map((item) => (
        <button
          key={item.key}
          type="button"
          aria-pressed={!hidden.has(item.key)}
          {...explained(item.words)}
          onClick={() => onToggle(item.key)}
        >
          <Swatch series={item} />
          {item.words}
        </button>
      ))}
      {series.some(hasGaps) && (
        <span class="quiet" title={whyGaps}>
          Pale: too few calls
        </span>
      )}
      {hasOutages && (
        <span class="quiet">
          <span class="swatch is-outage" />
          Gateway down
        </span>
      )}
      {hasMarks && (
        <span class="quiet">
          <span class="swatch is-mark" />
          Event
        </span>
      )}
    </div>
  )
}

/** A small sample of a series' style. */
export function Swatch({ series }: { readonly series: ChartSeries }) {
  const { kind, colour, isSoft, isDashed } = series
  const classes = `swatch is-${kind} ${isSoft === true ? 'is-soft' : ''} ${isDashed === true ? 'is-dashed' : ''}`
  return <span class={classes} style={{ color: `var(--${colour})` }} />
}

const { p50, p95, p99 } = minSample
const whyGaps = `Percentiles need enough calls: ${p50} for p50, ${p95} for p95, ${p99} for p99.`

function hasGaps({ values, missing }: ChartSeries): boolean {
  return values.some((value, index) => value === null && (missing?.(index) ?? null) !== null)
}
