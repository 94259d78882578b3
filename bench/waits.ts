import { quantileOf } from '../src/lib/histogram.ts'

/** Times that a client waited, in milliseconds; as JSON only what is told of them. */
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
