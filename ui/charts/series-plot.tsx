import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import type { PageAddress } from '../data/page-address.ts'
import { Swatch } from './chart-legend.tsx'
import type { ChartPart } from './chart-part.ts'
import { useChartRoom } from './chart-room.tsx'
import { type ChartScale, heightOf, linearScale, logScale } from './chart-scale.ts'
import { type ChartSeries, drawnValues, figureOf, speech } from './chart-series.ts'
import { drawSeries } from './draw-series.ts'
import { PlotCanvas, type PlotCanvasProps } from './plot-canvas.tsx'
import { PlotSurface, type PlotDot } from './plot-surface.tsx'
import { Plot } from './plot.tsx'
import { type Bounds, bucketBounds } from './time-frame.ts'

export interface SeriesPlotProps {
  readonly part: ChartPart
  readonly isLog: boolean
  /** Of all parts of the chart, those that are not hidden: they are told wherever one points. */
  readonly shown: readonly ChartSeries[]
  /** Null where another part speaks for it. */
  readonly label: string | null
  readonly hasTimes: boolean
  readonly to: (bounds: Bounds) => Partial<PageAddress>
  readonly count: ((index: number) => string) | undefined
  readonly empty: string
}

/** One plot of a chart. */
export function SeriesPlot(props: SeriesPlotProps): JSX.Element {
  const { part, isLog, shown, label, hasTimes, to, count, empty } = props
  const { palette, outages, marks } = useChartRoom()
  const { frame, linear, heightPx } = part
  const own = useMemo(() => part.series.filter((one) => shown.includes(one)), [part, shown])
  const scale = useMemo(() => scaleOf(own, isLog, linear), [own, isLog, linear])
  const draw = useCallback<PlotCanvasProps['draw']>(
    (context, width, height) => drawSeries(context, { frame, scale, series: own, palette, width, height }),
    [frame, scale, own, palette],
  )
  // The last one lies above the others.
  const main = part.series.at(-1)
  const isEmpty = own.every(({ values }) => values.every((value) => value === null))
  const isDown = (index: number): boolean => {
    const { fromMs, toMs } = bucketBounds(frame, index)
    return outages.some((outage) => outage.fromMs <= fromMs && outage.toMs >= toMs)
  }
  const happened = (index: number): readonly string[] => {
    const { fromMs, toMs } = bucketBounds(frame, index)
    return [...new Set(marks.filter(({ ms }) => ms >= fromMs && ms < toMs).map(({ words }) => words))]
  }
  const speak = (index: number): string =>
    [
      isDown(index) ? 'no gateway' : speech(shown, index),
      ...(count === undefined ? [] : [count(index)]),
      ...happened(index),
    ].join(', ')
  const dots = (index: number): readonly PlotDot[] =>
    own.flatMap((one) => {
      const value = drawnValues(one, own)[index] ?? null
      return value === null || one.kind !== 'line'
        ? []
        : [{ height: heightOf(scale, value), colour: one.colour }]
    })
  return (
    <div class={`series-plot ${part.figure === undefined ? '' : 'with-figure'}`}>
      {part.figure !== undefined && (
        <p class={`part-figure ${part.figure.isTelling ? 'is-telling' : ''}`}>
          <strong>{part.figure.value}</strong>{' '}
          <span>
            {main !== undefined && <Swatch series={main} />}
            {part.figure.words}
          </span>
        </p>
      )}
      {part.words !== undefined && <p class="series-plot-words">{part.words}</p>}
      <Plot
        frame={frame}
        heightPx={heightPx}
        ticks={scale.ticks.map((tick) => ({ height: heightOf(scale, tick), words: part.axis(tick) }))}
        hasTimes={hasTimes}
        canvas={<PlotCanvas draw={draw} />}
      >
        {isEmpty && label !== null && <p class="series-plot-empty">{empty}</p>}
        <PlotSurface
          frame={frame}
          label={label}
          speak={speak}
          to={to}
          dots={dots}
          tip={(index) => (
            <>
              {isDown(index) ? (
                <p>No gateway ran</p>
              ) : (
                <dl class="chart-figures">
                  {shown.map((one) => (
                    <Figure key={one.key} series={one} index={index} />
                  ))}
                </dl>
              )}
              {count !== undefined && <p>{count(index)}</p>}
              {happened(index).map((words) => (
                <p key={words}>{words}</p>
              ))}
            </>
          )}
        />
      </Plot>
    </div>
  )
}

function Figure({ series, index }: { readonly series: ChartSeries; readonly index: number }): JSX.Element {
  return (
    <>
      <dt>
        <Swatch series={series} />
        {series.words}
      </dt>
      <dd>{figureOf(series, index)}</dd>
    </>
  )
}

function scaleOf(series: readonly ChartSeries[], isLog: boolean, linear: ChartPart['linear']): ChartScale {
  const values = series.flatMap((one) => one.each?.flat() ?? [...drawnValues(one, series)])
  return (isLog ? logScale(values) : null) ?? linearScale(values, linear)
}
