import { curvePercentiles } from '../../src/call/call-question.ts'
import type { Curves, GroupFigures } from '../../src/call/figures.ts'
import type { ChartSeries } from '../charts/chart-series.ts'
import type { ColourName } from '../charts/palette.ts'
import { honest } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { type NamedGroup, idOf } from '../data/page-address.ts'
import type { CompareColumnName } from '../data/sorted-columns.ts'
import { dollars, duration, percent, count, speed } from '../format/figures.ts'

/** A model, client, upstream or value of a tag, from `/api/query`. */
export interface CompareGroup extends GroupFigures, NamedGroup {
  readonly curves: Curves
}

/** A column of the table. */
export interface CompareColumn {
  readonly words: string
  /** The tooltip. */
  readonly title?: string
  /** Returns the group's value; null if it is unknown, or of too few calls. */
  readonly value: (group: CompareGroup) => number | null
  readonly show: (value: number) => string
  /** The class of columns that are hidden in narrow tables. */
  readonly class?: 'is-some' | 'is-more' | undefined
}

type Timed = 'duration_ms' | 'ttft_ms'

function time(words: string, of: Timed, level: 'p50' | 'p95' | 'p99', title: string): CompareColumn {
  const value = ({ [of]: figures }: CompareGroup): number | null => honest(level, figures[level], figures.n)
  return {
    words: `${words} ${level}`,
    title,
    value,
    show: duration,
    class: level === 'p95' ? 'is-some' : 'is-more',
  }
}

const latency = (level: 'p50' | 'p95' | 'p99', share: string): CompareColumn =>
  time('Latency', 'duration_ms', level, `${share} successful calls were at least this fast.`)
const firstToken = (level: 'p50' | 'p95' | 'p99'): CompareColumn =>
  time(
    'First token',
    'ttft_ms',
    level,
    'Time from sending a streamed call upstream to its first content, without the wait for a slot.',
  )

/** The columns of the table, in order. */
export const compareColumns = {
  calls: { words: 'Calls', value: ({ calls }) => calls, show: count },
  errors: {
    words: 'Failed',
    title: 'Share of calls that failed, not counting calls whose client left.',
    value: ({ error_rate: rate }) => rate,
    show: percent,
  },
  latency_p50: latency('p50', 'Half of the'),
  latency_p95: { ...latency('p95', '95 of 100'), class: undefined },
  latency_p99: latency('p99', '99 of 100'),
  timed: {
    words: 'Timed',
    title: 'Number of successful calls, whose times are measured.',
    value: ({ duration_ms: { n } }) => n,
    show: count,
    class: 'is-more',
  },
  first_p50: firstToken('p50'),
  first_p95: firstToken('p95'),
  first_p99: firstToken('p99'),
  speed: {
    words: 'Tokens/s',
    title: 'Median output speed of streamed calls.',
    value: ({ output_tokens_per_s: { p50, n } }) => honest('p50', p50, n),
    show: speed,
    class: 'is-some',
  },
  cached: {
    words: 'Cached',
    value: ({ cached_share: share }) => share,
    show: percent,
    class: 'is-more',
  },
  cost: { words: 'Cost', value: ({ cost_usd: usd }) => usd, show: dollars, class: 'is-some' },
} satisfies Record<CompareColumnName, CompareColumn>

/** A frame whose buckets are the percentiles of a curve. */
export const curveFrame: TimeFrame = {
  fromMs: 0,
  toMs: curvePercentiles.length,
  startsMs: [...curvePercentiles.keys()],
  bucketMs: 1,
  names: curvePercentiles.map((percentile) => [`p${percentile}`, `${percentile}% of calls within`]),
}

/** The bucket of the median. */
export const medianAt: number = curvePercentiles.indexOf(50)

/** Returns the least number of calls for a percentile. With fewer calls, the percentile would be just one call. */
function leastCallsAt(percentile: number): number {
  const fromEdge = Math.min(percentile, 100 - percentile) / 100
  return Math.max(5, Math.round(1 / fromEdge))
}

/** Returns a group's curve over the percentiles. Percentiles of too few calls are gaps. */
export function curveOf(
  group: CompareGroup,
  measure: keyof Curves,
  words: string,
  colour: ColourName,
): ChartSeries {
  const { n } = group[measure]
  const values = curvePercentiles.map((percentile, at) =>
    n >= leastCallsAt(percentile) ? (group.curves[measure][at] ?? null) : null,
  )
  const show = measure === 'output_tokens_per_s' ? speed : duration
  return { key: idOf(group), words, colour, kind: 'line', values, show, missing: () => 'too few calls' }
}
