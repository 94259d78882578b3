import { useCallback, useMemo } from 'preact/hooks'
import { explained } from '../design/meanings.ts'
import { Swatch } from './chart-legend.tsx'
import { useChartRoom } from './chart-room.tsx'
import { type ChartScale, heightOf, linearScale, logScale } from './chart-scale.ts'
import { type ChartPart, type ChartSeries, drawnValues, figureOf, speech } from './chart-series.ts'
import { drawSeries } from './draw-series.ts'
import { type Draw, Plot, type PlotProps } from './plot.tsx'
import { bucketBounds, isBetween } from './time-frame.ts'

export interface SeriesPlotProps extends Pick<PlotProps, 'label' | 'hasTimes' | 'to'> {
  readonly part: ChartPart
  readonly isLog: boolean
  /** Of all parts of the chart, those that are not hidden: they are told wherever one points. */
  readonly shown: readonly ChartSeries[]
  readonly count: ((index: number) => string) | undefined
  readonly empty: string
}

/** One plot of a chart. */
export function SeriesPlot(props: SeriesPlotProps) {
  const { part, isLog, shown, label, hasTimes, to, count, empty } = props
  const { palette, outages, marks } = useChartRoom()
  const { frame, linear, heightPx, figure } = part
  const own = useMemo(() => part.series.filter((one) => shown.includes(one)), [part, shown])
  const scale = useMemo(() => scaleOf(own, isLog, linear), [own, isLog, linear])
  const draw = useCallback<Draw>(
    (context, width, height) => drawSeries(context, { frame, scale, series: own, palette, width, height }),
    [frame, scale, own, palette],
  )
  // What the part is about; before it stand what it is compared with.
  const main = part.series.at(-1)
  const isEmpty = own.every(({ values }) => values.every((value) => value === null))
  const isDown = (index: number): boolean => {
    const { fromMs, toMs } = bucketBounds(frame, index)
    return outages.some((outage) => outage.fromMs <= fromMs && outage.toMs >= toMs)
  }
  /** Said of a bucket besides its figures: how many calls, and what happened. */
  const rest = (index: number): readonly string[] => {
    const bounds = bucketBounds(frame, index)
    const happened = marks.filter(({ ms }) => isBetween(bounds, ms)).map(({ words }) => words)
    return [...(count === undefined ? [] : [count(index)]), ...new Set(happened)]
  }
  return (
    <div class={`series-plot ${figure === undefined ? '' : 'with-figure'}`}>
      {figure !== undefined && (
        <p
          class={`part-figure fine ${figure.isTelling === true ? 'is-telling' : ''}`}
          {...(main !== undefined && explained(main.words))}
        >
          <strong>{figure.value}</strong>{' '}
          <span>
            {main !== undefined && <Swatch series={main} />}
            {figure.words}
          </span>
        </p>
      )}
      {part.words !== undefined && <p class="series-plot-words finest">{part.words}</p>}
      <Plot
        frame={frame}
        heightPx={heightPx}
        ticks={scale.ticks.map((tick) => ({ height: heightOf(scale, tick), words: part.axis(tick) }))}
        hasTimes={hasTimes}
        draw={draw}
        empty={isEmpty && label !== null ? empty : null}
        label={label}
        to={(bounds) => ({ ...to(bounds, null), ...part.only })}
        speak={(index) => [isDown(index) ? 'no gateway' : speech(shown, index), ...rest(index)].join(', ')}
        dots={(index) =>
          own.flatMap((one) => {
            const value = drawnValues(one, own)[index] ?? null
            if (value === null || one.kind !== 'line') return []
            return [{ height: heightOf(scale, value), colour: one.colour }]
          })
        }
        tip={(index) => (
          <>
            {isDown(index) ? <p>No gateway ran</p> : <Figures series={shown} index={index} />}
            {rest(index).map((words) => (
              <p key={words}>{words}</p>
            ))}
          </>
        )}
      />
    </div>
  )
}

function Figures({ series, index }: { readonly series: readonly ChartSeries[]; readonly index: number }) {
  return (
    <dl>
      {series.map((one) => (
        <>
          <dt>
            <Swatch series={one} />
            {one.words}
          </dt>
          <dd>{figureOf(one, index)}</dd>
        </>
      ))}
    </dl>
  )
}

function scaleOf(series: readonly ChartSeries[], isLog: boolean, linear: ChartPart['linear']): ChartScale {
  const values = series.flatMap((one) => one.each?.flat() ?? [...drawnValues(one, series)])
  return (isLog ? logScale(values) : null) ?? linearScale(values, linear)
}
