import { fingerprintFrom } from '../../lib/histogram.ts'
import { saturatedNumber } from '../../lib/saturated-number.ts'
import { VarintReader } from '../../lib/packed-numbers.ts'
import { type Figures, measureNames, sumColumns } from './rollup-figures.ts'

/** Figures as plain numbers. Each adds up in its own way: sums, then fingerprints of histograms, then largest values. */
export type Digest = Float64Array

const perMeasure = { sums: 2, extremes: 2 }
const fingerprintsAt = sumColumns.length + perMeasure.sums * measureNames.length
const extremesAt = fingerprintsAt + measureNames.length
/** The last is 1 wherever there is a row at all. */
const presentAt = extremesAt + perMeasure.extremes * measureNames.length
const width = presentAt + 1
/** The least value is kept as what it lies below this. */
const most = Number.MAX_SAFE_INTEGER

/** Used again for each row. */
const digest: Digest = new Float64Array(width)

function setMeasure(
  index: number,
  count: number,
  sum: number,
  min: number,
  max: number,
  print: number,
): void {
  digest[sumColumns.length + 2 * index] = count
  digest[sumColumns.length + 2 * index + 1] = sum
  digest[fingerprintsAt + index] = print
  digest[extremesAt + 2 * index] = most - min
  digest[extremesAt + 2 * index + 1] = max
}

/** That of a row of `figureColumns`, until the next one is asked for. Spreads that cannot be read are like no others. */
export function digestOfRow(row: readonly unknown[]): Digest {
  digest.fill(0)
  for (let at = 0; at < sumColumns.length; at++) digest[at] = Number(row[at])
  digest[presentAt] = 1
  const spreads = row[sumColumns.length]
  if (!(spreads instanceof Uint8Array)) return digest
  const reader = new VarintReader(spreads)
  try {
    for (let index = 0; index < measureNames.length; index++) {
      const count = reader.read()
      if (count === 0) continue
      const [sum, min, max] = [reader.read(), reader.read(), reader.read()]
      // The sum of inverses, which may differ by how it was rounded.
      reader.read()
      setMeasure(index, count, sum, min, max, fingerprintFrom(reader))
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    digest[presentAt] = Number.NaN
  }
  return digest
}

/** That of counted calls, until the next one is asked for. */
export function digestOfFigures({ sums, spreads }: Figures): Digest {
  digest.fill(0)
  digest.set(sums)
  digest[presentAt] = 1
  for (const [index, measure] of measureNames.entries()) {
    const { count, sum, min, max, histogram } = spreads[measure]
    if (count > 0) setMeasure(index, count, sum, min, max, histogram.fingerprint())
  }
  return digest
}

/** What cells hold, and what they should: both add up from parts. */
export class ComparedCells {
  readonly #offsets = new Map<number, number>()
  #numbers = new Float64Array(64 * 2 * width)

  /** Adds to what a cell holds, or should hold. Cells are told apart by a number. */
  add(cell: number, side: 'held' | 'due', part: Digest): void {
    let at = this.#offsets.get(cell)
    if (at === undefined) {
      at = 2 * width * this.#offsets.size
      this.#offsets.set(cell, at)
      if (at === this.#numbers.length) {
        const larger = new Float64Array(2 * at)
        larger.set(this.#numbers)
        this.#numbers = larger
      }
      this.#numbers.fill(0, at, at + 2 * width)
    }
    if (side === 'due') at += width
    const numbers = this.#numbers
    for (let i = 0; i < width; i++) {
      const [now, more] = [numbers[at + i] ?? 0, part[i] ?? 0]
      numbers[at + i] =
        i < fingerprintsAt ? now + more : i < extremesAt ? (now + more) | 0 : Math.max(now, more)
    }
  }

  /** The cells that hold something else than they should. */
  *wrong(): Generator<number> {
    const numbers = this.#numbers
    for (const [cell, at] of this.#offsets)
      for (let i = at; i < at + width; i++)
        if (!isSame(numbers[i] ?? 0, numbers[i + width] ?? 0)) {
          yield cell
          break
        }
  }

  clear(): void {
    this.#offsets.clear()
  }
}

/** Sums are written up to a largest number, so that larger ones look the same; what cannot be read is like nothing. */
function isSame(one: number, other: number): boolean {
  return saturatedNumber(one) === saturatedNumber(other)
}
