import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Table } from '../design/table.tsx'
import { bucketSpan } from './bucket-words.ts'
import { ChartLegend } from './chart-legend.tsx'
import { useChartRoom } from './chart-room.tsx'
import { type ChartPart, type ChartSeries, figureOf } from './chart-series.ts'
import { SeriesPlot } from './series-plot.tsx'
import { type Bounds, type TimeFrame, bucketBounds, isBetween, overlaps } from './time-frame.ts'

export interface TimeChartProps {
  readonly title: string
  readonly about?: ComponentChildren
  readonly parts: readonly ChartPart[]
  /** Before what every chart can do. */
  readonly actions?: ComponentChildren
  /** Where the calls of a bucket are. */
  readonly to: (bounds: Bounds) => Partial<PageAddress>
  /** A last line of what is told of a bucket: how many calls. */
  readonly count?: (index: number) => string
  /** Whether its legend says what is marked in all charts: others beside it do. */
  readonly explainsMarks?: boolean
  /** Over an empty plot. */
  readonly empty: string
}

/** A chart over time: with a legend, as a table, to be zoomed, listened to, and followed to its calls. */
export function TimeChart(props: TimeChartProps) {
  const { title, about, parts, actions, to, count, explainsMarks = true, empty } = props
  const { outages, marks } = useChartRoom()
  const [isTable, setTable] = useState(false)
  const [isLog, setLog] = useState(true)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const all = useMemo(() => parts.flatMap(({ series }) => series), [parts])
  const shown = useMemo(() => all.filter(({ key }) => !hidden.has(key)), [all, hidden])
  const [first] = parts
  if (first === undefined) return <></>
  const toggle = (key: string): void =>
    setHidden(new Set(hidden.has(key) ? [...hidden].filter((one) => one !== key) : [...hidden, key]))
  const hasOutages = outages.some((outage) => overlaps(outage, first.frame))
  const hasMarks = marks.some(({ ms }) => isBetween(first.frame, ms))
  const canSwitch = parts.some((part) => part.isLog === true)
  return (
    <Card
      title={title}
      about={about}
      class="time-chart"
      actions={
        <>
          {actions}
          {canSwitch && !isTable && (
            <Button
              kind="bare"
              small
              aria-pressed={isLog}
              title="Equal heights are equal factors"
              onClick={() => setLog(!isLog)}
            >
              Log
            </Button>
          )}
          <Button kind="bare" small aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            Table
          </Button>
        </>
      }
    >
      <ChartLegend
        series={first.series}
        hidden={hidden}
        onToggle={toggle}
        hasOutages={explainsMarks && hasOutages}
        hasMarks={explainsMarks && hasMarks}
      />
      <div class={`time-chart-parts ${isTable ? 'is-table' : ''}`}>
        {parts.map((part, index) => (
          <SeriesPlot
            key={index}
            part={part}
            isLog={part.isLog === true && isLog}
            shown={shown}
            label={index === 0 ? title : null}
            hasTimes={index === parts.length - 1}
            to={to}
            count={count}
            empty={empty}
          />
        ))}
        {isTable && <ChartTable title={title} frame={first.frame} series={all} to={to} />}
      </div>
    </Card>
  )
}

interface ChartTableProps extends Pick<TimeChartProps, 'title' | 'to'> {
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
}

/** The figures of a chart, newest first, each row with the way to its calls. */
function ChartTable({ title, frame, series, to }: ChartTableProps) {
  const times = useTimes()
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <div class="chart-table" tabIndex={0} role="region" aria-label={`${title}, table`}>
      <Table caption={title} columns={['Time', ...series.map(({ words }) => words)]}>
        <tbody>
          {frame.startsMs
            .map((startMs, index) => (
              <tr key={startMs}>
                <th scope="row">
                  <AddressLink class="text-link" to={to(bucketBounds(frame, index))}>
                    {bucketSpan(times, frame, index)}
                  </AddressLink>
                </th>
                {series.map((one) => (
                  <td key={one.key} class={one.values[index] === null ? 'quiet' : ''}>
                    {figureOf(one, index)}
                  </td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </Table>
    </div>
  )
}
