import type { JSX } from 'preact'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import { Table } from '../design/table.tsx'
import { bucketSpan } from './bucket-words.ts'
import { type ChartSeries, figureOf } from './chart-series.ts'
import { type Bounds, type TimeFrame, bucketBounds } from './time-frame.ts'

export interface ChartTableProps {
  readonly caption: string
  readonly frame: TimeFrame
  readonly series: readonly ChartSeries[]
  readonly to: (bounds: Bounds) => Partial<PageAddress>
}

/** The figures of a chart, newest first, each row with the way to its calls. */
export function ChartTable({ caption, frame, series, to }: ChartTableProps): JSX.Element {
  const times = useTimes()
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <div class="chart-table" tabIndex={0} role="region" aria-label={`${caption}, table`}>
      <Table caption={caption} columns={['Time', ...series.map(({ words }) => words)]}>
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
