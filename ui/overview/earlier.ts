import type { Overview } from '../../src/api/overview.ts'
import type { ChartPanel, ChartSeries } from '../charts/chart-series.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type Against, type PageAddress, callsQuery } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'
import { count } from '../format/figures.ts'

const dayMs = 86_400_000

/** The range to compare with: of the same length, and earlier. */
export function earlierBounds({ fromMs, toMs }: Bounds, against: Against): Bounds {
  const shifts = { previous: toMs - fromMs, day: dayMs, week: 7 * dayMs }
  return { fromMs: fromMs - shifts[against], toMs: toMs - shifts[against] }
}

/** The path that asks for the earlier period, which starts at a whole second as the present one does. */
export function earlierPath(address: PageAddress, against: Against, zone: string, nowMs: number): string {
  const time = earlierBounds(boundsOf(address, Math.floor(nowMs / 1000) * 1000), against)
  return `/api/overview?${callsQuery(address, time, { tz: zone })}`
}

/** True if recording reached across all of that time: else it compares with nothing. */
export function isRecorded({ from, recorded_from: first }: Overview): boolean {
  return first !== null && Date.parse(first) <= Date.parse(from)
}

/** Draws an earlier time's course of a measure into a chart, as a quiet line above the bars, which would cover it. */
export function withEarlier(
  panels: readonly ChartPanel[],
  [answer, earlier]: readonly [Overview, Overview],
  series: ChartSeries,
): readonly ChartPanel[] {
  const [first, ...rest] = panels
  if (first === undefined) return panels
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
  return [{ ...first, series: [line, ...first.series] }, ...rest]
}

/** All calls of an earlier range. */
export function earlierCalls({ buckets }: Overview): ChartSeries {
  const values = buckets.calls
  return { key: 'calls', words: 'Calls', colour: 'edge', kind: 'line', isSum: true, values, show: count }
}

/** Values of an earlier time by the buckets of the later one, whose bounds may lie a little beside. */
function aligned(values: ChartSeries['values'], answer: Overview, earlier: Overview): ChartSeries['values'] {
  const shiftS = (Date.parse(answer.from) - Date.parse(earlier.from)) / 1000
  const starts = earlier.buckets.start_s
  return answer.buckets.start_s.map((startS) => {
    const bucket = starts.findLastIndex((start) => start <= startS + answer.bucket_s / 2 - shiftS)
    return values[bucket] ?? null
  })
}
