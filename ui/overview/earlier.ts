import type { Overview } from '../../src/api/overview.ts'
import type { ChartPanel, ChartSeries } from '../charts/chart-series.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type Against, type PageAddress, callsQuery } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'
import { count } from '../format/figures.ts'

const dayMs = 86_400_000

/** Returns the earlier range of the same length to compare with. */
export function earlierBounds({ fromMs, toMs }: Bounds, against: Against): Bounds {
  const shifts = { previous: toMs - fromMs, day: dayMs, week: 7 * dayMs }
  return { fromMs: fromMs - shifts[against], toMs: toMs - shifts[against] }
}

/** Returns the API path of the earlier period, which starts at a whole second like the current one. */
export function earlierPath(address: PageAddress, against: Against, zone: string, nowMs: number): string {
  const time = earlierBounds(boundsOf(address, Math.floor(nowMs / 1000) * 1000), against)
  return `/api/overview?${callsQuery(address, time, { tz: zone })}`
}

/** True if recording covers the whole period; otherwise comparisons would mislead. */
export function isRecorded({ from, recorded_from: first }: Overview): boolean {
  return first !== null && Date.parse(first) <= Date.parse(from)
}

/** Adds a measure of an earlier period to a panel, as a quiet line above the bars. */
export function withEarlier(
  panel: ChartPanel,
  [answer, earlier]: readonly [Overview, Overview],
  series: ChartSeries,
): ChartPanel {
  const { words, show, values, isSum } = series
  const line: ChartSeries = {
    key: 'earlier',
    words: `${words}, compared`,
    colour: 'edge',
    kind: 'line',
    isSum: isSum === true,
    values: aligned(values, answer, earlier),
    show,
  }
  return { ...panel, series: [line, ...panel.series] }
}

/** Returns the series of all calls of an earlier period. */
export function earlierCalls({ buckets }: Overview): ChartSeries {
  const values = buckets.calls
  return { key: 'calls', words: 'Calls', colour: 'edge', kind: 'line', isSum: true, values, show: count }
}

/** Returns the values of an earlier period for the buckets of the current one. Their starts may differ a little. */
function aligned(values: ChartSeries['values'], answer: Overview, earlier: Overview): ChartSeries['values'] {
  const shiftS = (Date.parse(answer.from) - Date.parse(earlier.from)) / 1000
  const starts = earlier.buckets.start_s
  return answer.buckets.start_s.map((startS) => {
    const bucket = starts.findLastIndex((start) => start <= startS + answer.bucket_s / 2 - shiftS)
    return values[bucket] ?? null
  })
}
