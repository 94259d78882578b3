import { quantileOf } from '../src/lib/histogram.ts'
import { type Goal, median, pairedRatio, range, ratioGoal } from './summary.ts'

/** Times that a client waited, in milliseconds. Their JSON has only the summary. */
export class Waits {
  readonly #sortedMs: readonly number[]

  constructor(ms: readonly number[]) {
    this.#sortedMs = ms.toSorted((a, b) => a - b)
  }

  static all(parts: readonly Waits[]): Waits {
    return new Waits(parts.flatMap((part) => part.#sortedMs))
  }

  /** The time below which that part of them lies, 0 to 1; 0 where there is none. */
  at(part: number): number {
    return quantileOf(this.#sortedMs.length, part, (rank) => this.#sortedMs[rank] ?? 0) ?? 0
  }

  toJSON(): Readonly<Record<string, number>> {
    const [p50, p99, p999, max] = [this.at(0.5), this.at(0.99), this.at(0.999), this.at(1)]
    return { n: this.#sortedMs.length, p50, p99, p999, max }
  }
}

/** Of a target's waits the median and the 99th percentile in each round, in milliseconds. */
export interface Latency {
  readonly p50: readonly number[]
  readonly p99: readonly number[]
}

export function latencyOf(rounds: readonly { readonly waits: Waits }[]): Latency {
  return { p50: rounds.map(({ waits }) => waits.at(0.5)), p99: rounds.map(({ waits }) => waits.at(0.99)) }
}

/** The median is compared with nginx's, the 99th percentile with the bare proxy's. */
const yardsticks = [
  { part: 'p50', than: 'nginx' },
  { part: 'p99', than: 'bare' },
] as const
/** The highest ratios. */
const defaultGoals = { p50: 1.5, p99: 1.25 }

export type Latencies = ReadonlyMap<string, Latency>

export const latencyColumns = ['p50 ms', 'range', '÷ nginx', 'p99 ms', 'range', '÷ bare']

/** A target's cells under {@link latencyColumns}. */
export function latencyCells(name: string, all: Latencies): readonly string[] {
  return yardsticks.flatMap(({ part, than }) => {
    const ms = all.get(name)![part]
    return [median(ms).toFixed(2), range(ms, 2), pairedRatio(ms, all.get(than)?.[part])]
  })
}

/** Goals of tokenweir's latencies: the ratios are at most these. */
export function latencyGoals(
  what: string,
  all: Latencies,
  atMost: Readonly<Record<'p50' | 'p99', number>> = defaultGoals,
): readonly Goal[] {
  return yardsticks.flatMap(({ part, than }) =>
    ratioGoal(`${what}, ${part}`, atMost[part], all.get('tokenweir')?.[part], all.get(than)?.[part], than),
  )
}
