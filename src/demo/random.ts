/** A source of numbers from 0 to below 1, such as `Math.random`. */
export type Random = () => number

/** The same numbers for the same seed: mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A quantity that is usually near its median and sometimes several times as large, like a latency. */
export interface LogNormal {
  readonly median: number
  /** Standard deviation of the logarithm: 0.3 is steady, 1 is wild (default: 0.4). */
  readonly sigma?: number
}

/** A log-normal draw, after Box and Muller. */
export function drawFrom(random: Random, { median, sigma = 0.4 }: LogNormal): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * Math.exp(sigma * normal)
}

/** Any number from `low` up to `high`, all equally likely. */
export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low)
}

/** A whole number from `low` to `high`, both included. */
export function integerBetween(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

/** An element of a list, all equally likely. */
export function pickOne<T>(random: Random, items: readonly [T, ...(readonly T[])]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

/** Draws items, each as often as its weight says. */
export function weightedPick<T>(items: readonly T[], weightOf: (item: T) => number): (random: Random) => T {
  let sum = 0
  const sums = items.map((item) => (sum += weightOf(item)))
  return (random) => {
    const target = random() * sum
    const item = items[sums.findIndex((upTo) => upTo > target)]
    if (item === undefined) throw new Error('there is nothing to draw from')
    return item
  }
}
