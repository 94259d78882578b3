import { axisCount, axisDuration } from '../charts/chart-scale.ts'
import { type ChartPanel, type ChartSeries, bars } from '../charts/chart-series.ts'
import type { ColourName } from '../charts/palette.ts'
import { type Percentile, withEnoughCalls, whyMissing } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { count, duration, percent, speed } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'

/** The heights of tall and low plots. */
const [tallPx, lowPx] = [220, 150]

type Column = readonly (number | null)[]

function line(
  percentile: Percentile,
  colour: ColourName,
  values: Column,
  counts: readonly number[],
  options: Partial<ChartSeries> = {},
): ChartSeries {
  return {
    key: percentile,
    words: percentile,
    colour,
    kind: 'line',
    values: withEnoughCalls(percentile, values, counts),
    show: duration,
    missing: (index) => whyMissing(percentile, counts[index] ?? 0),
    ...options,
  }
}

/** Returns the single calls as dots if no bucket has enough calls for a percentile, and the answer has them. */
function orSingleCalls(
  percentiles: readonly ChartSeries[],
  singles: readonly (readonly number[])[] | undefined,
): readonly ChartSeries[] {
  const [first] = percentiles
  const isBare = percentiles.every(({ values }) => values.every((value) => value === null))
  if (first === undefined || singles === undefined || !isBare) return percentiles
  const { colour, show } = percentiles.find(({ key }) => key === 'p95') ?? first
  const values = singles.map((dots) => (dots.length === 0 ? null : Math.max(...dots)))
  return [{ key: 'call', words: 'Individual calls', colour, kind: 'dots', values, dots: singles, show }]
}

/** Returns the latency panel: a band from the median to the 95th percentile, and a line of the 99th. */
export function latencyPanel({ buckets, singles }: Overview, frame: TimeFrame): ChartPanel {
  const counts = buckets.duration_n
  const percentiles = [
    line('p99', 'p99', buckets.duration_p99_ms, counts, { isDashed: true }),
    line('p95', 'accent', buckets.duration_p95_ms, counts, { fillTo: 'p50' }),
    line('p50', 'p50', buckets.duration_p50_ms, counts),
  ]
  return timePanel(frame, tallPx, orSingleCalls(percentiles, singles?.duration_ms))
}

/** Returns the panel of the time to first token: a band from the median to the 95th percentile. */
export function firstTokenPanel({ buckets, singles }: Overview, frame: TimeFrame): ChartPanel {
  const counts = buckets.ttft_n
  const percentiles = [
    line('p95', 'accent', buckets.ttft_p95_ms, counts, { fillTo: 'p50' }),
    line('p50', 'p50', buckets.ttft_p50_ms, counts),
  ]
  return timePanel(frame, lowPx, orSingleCalls(percentiles, singles?.ttft_ms))
}

function timePanel(frame: TimeFrame, heightPx: number, series: readonly ChartSeries[]): ChartPanel {
  return { frame, heightPx, linear: { leastTop: 100, isTime: true }, axis: axisDuration, isLog: true, series }
}

/** Returns the panel of output speed, in tokens per second. */
export function speedPanel({ buckets, singles }: Overview, frame: TimeFrame): ChartPanel {
  const median = line('p50', 'stream', buckets.speed_p50, buckets.speed_n, {
    words: 'Median',
    fillTo: 'bottom',
    show: (value) => `${speed(value)} tok/s`,
  })
  const series = orSingleCalls([median], singles?.output_tokens_per_s)
  return { frame, heightPx: lowPx, linear: { leastTop: 10 }, axis: axisCount, series }
}

/** Returns the panel of requests, with failed calls stacked on the others. */
export function requestPanel({ buckets }: Overview, frame: TimeFrame): ChartPanel {
  const ok = buckets.calls.map((calls, index) => calls - (buckets.errors[index] ?? 0))
  return {
    frame,
    heightPx: lowPx,
    linear: { leastTop: 4, isInteger: true },
    axis: axisCount,
    series: [
      { ...bars('failed', 'Failed', 'bad', buckets.errors, count, ['ok']), isSum: true },
      { ...bars('ok', 'Succeeded', 'p50', ok, count), isSoft: true, isSum: true },
    ],
  }
}

/** Returns the panel of the error rate. A separate chart shows rates that would be invisible beside the requests. */
export function errorPanel({ buckets }: Overview, frame: TimeFrame): ChartPanel {
  return {
    frame,
    heightPx: lowPx,
    linear: { leastTop: 0.04 },
    axis: percent,
    series: [bars('rate', 'Error rate', 'bad', buckets.error_rate, percent)],
  }
}
