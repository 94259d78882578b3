import { axisCount, axisDuration } from '../charts/chart-scale.ts'
import type { ChartPart } from '../charts/chart-series.ts'
import type { ChartSeries } from '../charts/chart-series.ts'
import type { ColourName } from '../charts/palette.ts'
import { type Percentile, honestColumn, whyMissing } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { count, duration, percent, speed } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'

/** Of the plots side by side, in pixels. */
export const tallPx = 220
export const lowPx = 150
const stripPx = 28

interface PercentileSeries {
  readonly percentile: Percentile
  readonly colour: ColourName
  readonly values: readonly (number | null)[]
  readonly counts: readonly number[]
  readonly rest?: Partial<ChartSeries>
}

function percentileSeries({ percentile, colour, values, counts, rest }: PercentileSeries): ChartSeries {
  return {
    key: percentile,
    words: percentile,
    colour,
    kind: 'line',
    values: honestColumn(percentile, values, counts),
    show: duration,
    missing: (index) => whyMissing(percentile, counts[index] ?? 0),
    ...rest,
  }
}

/** Where there are too few calls at any one time for a percentile, the calls themselves, where they are told. */
function orSingleCalls(
  percentiles: readonly ChartSeries[],
  singles: readonly (readonly number[])[] | undefined,
): readonly ChartSeries[] {
  const [first] = percentiles
  const isBare = percentiles.every(({ values }) => values.every((value) => value === null))
  if (first === undefined || singles === undefined || !isBare) return percentiles
  const { colour, show } = percentiles.find(({ key }) => key === 'p95') ?? first
  const values = singles.map((each) => (each.length === 0 ? null : Math.max(...each)))
  return [{ key: 'call', words: 'Single calls', colour, kind: 'dots', values, each: singles, show }]
}

const atLeast100Ms = { leastTop: 100 }

/** Half of the calls, and all but the slowest twentieth, as a band; the slowest hundredth as a line of its own. */
export function latencyParts({ buckets, singles }: Overview, frame: TimeFrame): readonly ChartPart[] {
  const counts = buckets.duration_n
  return [
    {
      frame,
      heightPx: tallPx,
      linear: atLeast100Ms,
      axis: axisDuration,
      isLog: true,
      series: orSingleCalls(
        [
          percentileSeries({
            percentile: 'p99',
            colour: 'p99',
            values: buckets.duration_p99_ms,
            counts,
            rest: { isDashed: true },
          }),
          percentileSeries({
            percentile: 'p95',
            colour: 'accent',
            values: buckets.duration_p95_ms,
            counts,
            rest: { fillTo: 'p50' },
          }),
          percentileSeries({ percentile: 'p50', colour: 'p50', values: buckets.duration_p50_ms, counts }),
        ],
        singles?.duration_ms,
      ),
    },
  ]
}

/** From arrival, as a band; from dispatch, as a line of its own: what is between them is the wait for a slot. */
export function firstTokenParts({ buckets, singles }: Overview, frame: TimeFrame): readonly ChartPart[] {
  const counts = buckets.ttft_total_n
  return [
    {
      frame,
      heightPx: lowPx,
      linear: atLeast100Ms,
      axis: axisDuration,
      isLog: true,
      series: orSingleCalls(
        [
          percentileSeries({
            percentile: 'p95',
            colour: 'accent',
            values: buckets.ttft_total_p95_ms,
            counts,
            rest: { fillTo: 'p50' },
          }),
          percentileSeries({
            percentile: 'p95',
            colour: 'stream',
            values: buckets.ttft_p95_ms,
            counts: buckets.ttft_n,
            rest: { key: 'upstream', words: 'p95, upstream alone', isDashed: true },
          }),
          percentileSeries({ percentile: 'p50', colour: 'p50', values: buckets.ttft_total_p50_ms, counts }),
        ],
        singles?.ttft_total_ms,
      ),
    },
  ]
}

export function speedParts({ buckets, singles }: Overview, frame: TimeFrame): readonly ChartPart[] {
  const values = honestColumn('p50', buckets.speed_p50, buckets.speed_n)
  return [
    {
      frame,
      heightPx: lowPx,
      linear: { leastTop: 10 },
      axis: axisCount,
      series: orSingleCalls(
        [
          {
            key: 'median',
            words: 'Median',
            colour: 'stream',
            kind: 'line',
            fillTo: 'bottom',
            values,
            show: (value) => `${speed(value)}\u202ftok/s`,
            missing: (index) => whyMissing('p50', buckets.speed_n[index] ?? 0),
          },
        ],
        singles?.output_tokens_per_s,
      ),
    },
  ]
}

/** Succeeded and failed calls upon each other, and below them the share that failed: one in a hundred is no bar to be seen. */
export function requestParts({ buckets }: Overview, frame: TimeFrame): readonly ChartPart[] {
  return [
    {
      frame,
      heightPx: lowPx - stripPx - 24,
      linear: { leastTop: 4, isWhole: true },
      axis: axisCount,
      series: [
        {
          key: 'failed',
          words: 'Failed',
          colour: 'bad',
          kind: 'bars',
          standsOn: ['ok'],
          values: buckets.errors,
          show: count,
        },
        {
          key: 'ok',
          words: 'Not failed',
          colour: 'p50',
          kind: 'bars',
          isSoft: true,
          values: buckets.calls.map((calls, index) => calls - (buckets.errors[index] ?? 0)),
          show: count,
        },
      ],
    },
    {
      frame,
      heightPx: stripPx,
      linear: { leastTop: 0.04, maxTicks: 1 },
      axis: (value) => (value === 0 ? '' : percent(value)),
      words: 'Error rate',
      series: [
        {
          key: 'rate',
          words: 'Error rate',
          colour: 'bad',
          kind: 'bars',
          values: buckets.error_rate,
          show: percent,
        },
      ],
    },
  ]
}
