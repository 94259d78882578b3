import { drawFrom, type Random, type LogNormal } from '../../src/demo/random.ts'

/** The same numbers for the same seed, on every machine (after `sfc32` of PractRand: 128 bits of state). */
export function seededRandom(seed: number): Random {
  let a = 0x9e37_79b9
  let b = 0x243f_6a88
  let c = seed | 0
  let counter = 1
  const next = (): number => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  // Until a small seed has spread over the whole state.
  for (let i = 0; i < 20; i++) next()
  return next
}

/** Draws places of a list, each as often as its weight says. */
export class WeightedPlaces {
  readonly #sums: Float64Array

  constructor(weights: readonly number[]) {
    this.#sums = new Float64Array(weights.length)
    let sum = 0
    for (const [place, weight] of weights.entries()) this.#sums[place] = sum += weight
  }

  draw(random: Random): number {
    const sums = this.#sums
    const wanted = random() * sums[sums.length - 1]!
    let place = 0
    while (place < sums.length - 1 && sums[place]! <= wanted) place++
    return place
  }
}

/** Mostly near the median, and one time in thirty several times that: what upstreams do under load. */
export function heavyTail(random: Random, spread: LogNormal): number {
  const value = drawFrom(random, spread)
  return random() < 1 / 30 ? value * (3 + 9 * random()) : value
}

/** The time until the next of events that have no memory. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random())
}
