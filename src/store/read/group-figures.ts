import { curvePercentiles } from '../../call/call-question.ts'
import type { CacheSums, Curves, GroupFigures, MeasureFigures } from '../../call/figures.ts'
import { CallSums, type Distribution } from '../rollup/call-sums.ts'

const quantiles: readonly number[] = [0.5, 0.9, 0.95, 0.99]
const noFigures: MeasureFigures = { n: 0, avg: null, p50: null, p90: null, p95: null, p99: null, max: null }

/** The figures of a set of calls, in the units of the API. */
export function groupFigures(figures: CallSums): GroupFigures {
  const calls = figures.sum('calls')
  const errors = figures.sum('errors')
  const stayed = calls - figures.sum('left_calls')
  const { duration_us, ttft_us, ttft_total_us, queue_us, tpot_us } = figures.distributions
  return {
    calls,
    errors,
    error_rate: stayed > 0 ? errors / stayed : null,
    input_tokens: figures.sum('input_tokens'),
    output_tokens: figures.sum('output_tokens'),
    cached_input_tokens: figures.sum('cached_input_tokens'),
    cache_write_tokens: figures.sum('cache_write_tokens'),
    reasoning_tokens: figures.sum('reasoning_tokens'),
    total_tokens: figures.sum('total_tokens'),
    cost_usd: figures.sum('priced_calls') > 0 ? figures.sum('cost_nano_usd') / 1e9 : null,
    ...cacheFigures({
      input: figures.sum('input_tokens'),
      cached: figures.sum('cached_input_tokens'),
      savedNanoUsd: figures.sum('cache_saved_nano_usd'),
      priced: figures.sum('priced_calls'),
    }),
    unpriced_calls: figures.sum('unpriced_calls'),
    no_usage_calls: calls - figures.sum('priced_calls') - figures.sum('unpriced_calls'),
    duration_ms: inMilliseconds(duration_us),
    ttft_ms: inMilliseconds(ttft_us),
    ttft_total_ms: inMilliseconds(ttft_total_us),
    queue_ms: inMilliseconds(queue_us),
    tpot_ms: inMilliseconds(tpot_us),
    output_tokens_per_s: speeds(tpot_us),
  }
}

/** The effect of the prompt cache. A saving of exactly 0 beside cached tokens means that no price distinguishes them. */
export function cacheFigures({
  input,
  cached,
  savedNanoUsd,
  priced,
}: Readonly<Record<'input' | 'cached' | 'savedNanoUsd' | 'priced', number>>): CacheSums {
  const isKnown = savedNanoUsd !== 0 || (priced > 0 && cached === 0)
  return {
    cached_share: input > 0 ? cached / input : null,
    cache_saved_usd: isKnown ? savedNanoUsd / 1e9 : null,
  }
}

/** The distributions of the compared measures. */
export function curvesOf({ distributions: { duration_us, ttft_us, tpot_us } }: CallSums): Curves {
  const positions = (n: number): number[] => curvePercentiles.map((percent) => (percent / 100) * (n - 1))
  const times = (distribution: Distribution): readonly number[] =>
    distribution.count === 0 ? [] : valuesAt(distribution, positions(distribution.count), inMs)
  return {
    duration_ms: times(duration_us),
    ttft_ms: times(ttft_us),
    output_tokens_per_s: speedsAt(tpot_us, positions),
  }
}

/** The figures of no calls. */
export const emptyFigures: GroupFigures = groupFigures(new CallSums())

function inMilliseconds(distribution: Distribution): MeasureFigures {
  const n = distribution.count
  if (n === 0) return noFigures
  const positions = quantiles.map((quantile) => quantile * (n - 1))
  const [p50 = 0, p90 = 0, p95 = 0, p99 = 0] = valuesAt(distribution, positions, inMs)
  return { n, avg: distribution.sum / n / 1000, p50, p90, p95, p99, max: distribution.max / 1000 }
}

function inMs(us: number): number {
  return us / 1000
}

/** Converts microseconds per token to tokens per second. */
function speedOf(us: number): number {
  return 1e6 / us
}

/** Speeds at rising positions, slowest first. A time of zero has no speed. */
function speedsAt(
  distribution: Distribution,
  positionsOf: (n: number) => readonly number[],
): readonly number[] {
  const n = distribution.count - distribution.histogram.zeros
  if (n === 0) return []
  const positions = positionsOf(n).map((position) => distribution.count - 1 - position)
  return valuesAt(distribution, positions.toReversed(), speedOf).toReversed()
}

function speeds(distribution: Distribution): MeasureFigures {
  const { count, histogram } = distribution
  const n = count - histogram.zeros
  if (n === 0) return noFigures
  const positions = (of: number): number[] => quantiles.map((quantile) => quantile * (of - 1))
  const [p50 = 0, p90 = 0, p95 = 0, p99 = 0] = speedsAt(distribution, positions)
  const [afterZeros = 0] = histogram.atRanks([histogram.zeros])
  const fastest = distribution.min > 0 ? distribution.min : Math.min(distribution.max, afterZeros)
  return { n, avg: (distribution.inverseSum / n) * 1e6, p50, p90, p95, p99, max: speedOf(fastest) }
}

/**
 * Values at rising positions, each interpolated between two ranks. The values at both ends are known
 * exactly, and none lies beyond them.
 */
function valuesAt(
  { count, min, max, histogram }: Distribution,
  positions: readonly number[],
  convert: (us: number) => number,
): readonly number[] {
  const ranks: number[] = []
  for (const position of positions) ranks.push(Math.floor(position), Math.ceil(position))
  const neighbours = histogram.atRanks(ranks)
  const valueOf = (rank: number, us: number): number => {
    if (rank <= 0) return convert(min)
    if (rank >= count - 1) return convert(max)
    return convert(Math.min(max, Math.max(min, us)))
  }
  return positions.map((position, index) => {
    const below = Math.floor(position)
    const low = valueOf(below, neighbours[2 * index] ?? 0)
    if (position === below) return low
    return low + (valueOf(below + 1, neighbours[2 * index + 1] ?? 0) - low) * (position - below)
  })
}
