import type { ComponentChildren } from 'preact'
import { useCallback, useContext, useMemo, useState } from 'preact/hooks'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { explained } from '../design/meanings.ts'
import { Table } from '../design/table/table.tsx'
import { bucketSpan } from './bucket-text.ts'
import { ChartLegend, Swatch } from './chart-legend.tsx'
import { type ChartScale, heightOf, linearScale, logScale } from './chart-scale.ts'
import { type ChartPanel, type ChartSeries, drawnValues, figureOf, speech } from './chart-series.ts'
import { drawSeries } from './draw-series.ts'
import { ChartEventsContext, type Draw, Plot, type PlotProps } from './plot.tsx'
import {
  type Bounds,
  type BucketRange,
  type TimeFrame,
  bucketBounds,
  isBetween,
  overlaps,
  rangeBounds,
} from './time-frame.ts'

export interface TimeChartProps {
  readonly title: string
  readonly about?: ComponentChildren
  readonly panels: readonly ChartPanel[]
  /** Buttons before the chart's own. */
  readonly actions?: ComponentChildren
  /** Returns the address of a bucket's calls. */
  readonly to: (bounds: Bounds) => Partial<PageAddress>
  /** Returns the last line of the tooltip: the number of calls. */
  readonly count?: (buckets: BucketRange) => string
  /** False if a chart beside it explains outages and marks (default: true). */
  readonly explainsEvents?: boolean
  /** The text over an empty plot. */
  readonly empty: string
}

/** A chart over time, with a legend and a table. Readers can zoom, hear its figures and open its calls. */
export function TimeChart(props: TimeChartProps) {
  const { title, about, panels, actions, to, count, explainsEvents = true, empty } = props
  const { outages, marks } = useContext(ChartEventsContext)
  const [isTable, setTable] = useState(false)
  const [isLog, setLog] = useState(true)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const all = useMemo(() => panels.flatMap(({ series }) => series), panels)
  const shown = useMemo(() => all.filter(({ key }) => !hidden.has(key)), [all, hidden])
  const [first] = panels
  if (first === undefined) return <></>
  const toggle = (key: string): void =>
    setHidden(new Set(hidden.has(key) ? [...hidden].filter((name) => name !== key) : [...hidden, key]))
  const hasOutages = outages.some((outage) => overlaps(outage, first.frame))
  const hasMarks = marks.some(({ ms }) => isBetween(first.frame, ms))
  const canSwitch = panels.some((panel) => panel.isLog === true)
  return (
    <Card
      title={title}
      about={about}
      class="time-chart"
      actions={
        <>
          {actions}
          {canSwitch && !isTable && (
            <Button small aria-pressed={isLog} title="Logarithmic scale" onClick={() => setLog(!isLog)}>
              Log
            </Button>
          )}
          <Button small aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            Table
          </Button>
        </>
      }
    >
      <ChartLegend
        series={first.series}
        hidden={hidden}
        onToggle={toggle}
        hasOutages={explainsEvents && hasOutages}
        hasMarks={explainsEvents && hasMarks}
      />
      <div class={`time-chart-panels ${isTable ? 'is-table' : ''}`}>
        {panels.map((panel, index) => (
          <PanelPlot
            key={index}
            panel={panel}
            isLog={panel.isLog === true && isLog}
            shown={shown}
            label={index === 0 ? title : null}
            hasTimes={index === panels.length - 1}
            to={to}
            {...(count !== undefined && { count })}
            empty={empty}
          />
        ))}
        {isTable && <ChartTable title={title} frame={first.frame} series={all} to={to} />}
      </div>
    </Card>
  )
}

interface PanelPlotProps extends Pick<PlotProps, 'label' | 'hasTimes' | 'to' | 'atFirst'> {
  readonly panel: ChartPanel
  readonly isLog: boolean
  /** The visible series of all panels. The tooltip of each panel shows them all. */
  readonly shown: readonly ChartSeries[]
  readonly count?: TimeChartProps['count']
  readonly empty: string
}

/** A plot of series, with a figure beside it. */
export function PanelPlot(props: PanelPlotProps) {
  const { panel, isLog, shown, label, hasTimes, to, atFirst, count, empty } = props
  const { outages, marks } = useContext(ChartEventsContext)
  const { frame, linear, heightPx, figure } = panel
  const shownSeries = useMemo(() => panel.series.filter((item) => shown.includes(item)), [panel, shown])
  const scale = useMemo(() => scaleOf(shownSeries, isLog, linear), [shownSeries, isLog, linear])
  const draw = useCallback<Draw>(
    (width, height) => drawSeries({ frame, scale, series: shownSeries, width, height }),
    [frame, scale, shownSeries],
  )
  // The last series is the main one; a compared series comes before it.
  const main = panel.series.at(-1)
  const isEmpty = shownSeries.every(({ values }) => values.every((value) => value === null))
  const isDown = (buckets: BucketRange): boolean => {
    const { fromMs, toMs } = rangeBounds(frame, buckets)
    return outages.some((outage) => outage.fromMs <= fromMs && outage.toMs >= toMs)
  }
  /** Returns the number of calls and the events of some buckets. */
  const factsOf = (buckets: BucketRange): readonly string[] => {
    const bounds = rangeBounds(frame, buckets)
    const happened = marks.filter(({ ms }) => isBetween(bounds, ms)).map(({ words }) => words)
    return [...(count === undefined ? [] : [count(buckets)]), ...new Set(happened)]
  }
  return (
    <div class={`series-plot ${figure === undefined ? '' : 'with-figure'}`}>
      {figure !== undefined && (
        <p
          class={`panel-figure fine ${figure.isTelling === true ? 'is-telling' : ''}`}
          {...(main !== undefined && explained(main.words))}
        >
          <strong>{figure.value}</strong>{' '}
          <span>
            {main !== undefined && <Swatch series={main} />}
            {figure.words}
          </span>
        </p>
      )}
      <Plot
        frame={frame}
        heightPx={heightPx}
        ticks={scale.ticks.map((tick) => ({
          height: heightOf(scale, tick),
          words: panel.axis(tick, scale.ticks),
        }))}
        hasTimes={hasTimes}
        draw={draw}
        empty={isEmpty && label !== null ? empty : null}
        label={label}
        to={to}
        atFirst={atFirst}
        speak={(buckets) =>
          [isDown(buckets) ? 'gateway down' : speech(shown, buckets), ...factsOf(buckets)].join(', ')
        }
        dots={(index) =>
          shownSeries.flatMap((item) => {
            const value = drawnValues(item, shownSeries)[index] ?? null
            if (value === null || item.kind !== 'line') return []
            return [{ height: heightOf(scale, value), colour: item.colour }]
          })
        }
        tip={(buckets) => (
          <>
            {isDown(buckets) ? (
              <p>Gateway down</p>
            ) : (
              <dl>
                {shown.map((item) => (
                  <>
                    <dt class="row quiet">
                      <Swatch series={item} />
                      <span class="cut">{item.words}</span>
                    </dt>
                    <dd>{figureOf(item, buckets)}</dd>
                  </>
                ))}
              </dl>
            )}
            {factsOf(buckets).map((words) => (
              <p key={words}>{words}</p>
            ))}
          </>
        )}
      />
    </div>
  )
}

function scaleOf(series: readonly ChartSeries[], isLog: boolean, linear: ChartPanel['linear']): ChartScale {
  const values = series.flatMap((item) => item.dots?.flat() ?? [...drawnValues(item, series)])
  return (isLog ? logScale(values) : null) ?? linearScale(values, linear)
}

interface ChartTableProps extends Pick<TimeChartProps, 'title' | 'to'> {
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
}

/** The figures of a chart, newest first. Each row is a link to its calls. */
function ChartTable({ title, frame, series, to }: ChartTableProps) {
  const times = useTimes()
  return (
    // The region can have the focus, so that the keyboard can scroll it.
    <div class="chart-table goes-on-aside" tabIndex={0} role="region" aria-label={`${title}, table`}>
      <Table<number>
        caption={title}
        columns={[
          {
            head: 'Time',
            cell: (index) => (
              <AddressLink class="text-link" to={to(bucketBounds(frame, index))}>
                {bucketSpan(times, frame, index)}
              </AddressLink>
            ),
          },
          ...series.map((item) => ({
            head: item.words,
            cell: (index: number) => (
              <span class={item.values[index] === null ? 'quiet' : ''}>
                {figureOf(item, { first: index, last: index })}
              </span>
            ),
          })),
        ]}
        rows={[...frame.startsMs.keys()].reverse()}
        keyOf={(index) => frame.startsMs[index] ?? 0}
      />
    </div>
  )
}
