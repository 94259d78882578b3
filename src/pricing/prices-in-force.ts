import { rmSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { PriceProblem } from '../api/costs.ts'
import { replaceFile } from '../lib/replace-file.ts'
import type { MeteredUsage } from './cost.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { type AskedPrice, type BookedCost, PriceBook } from './price-book.ts'
import { inForce, priceFileText, type PriceReading, readPriceFile, shippedPriceFile } from './price-file.ts'

/**
 * The prices that hold at the moment: those of the file, and until a first sync beneath them those that came with the
 * program. While what stands there cannot be read, the last that anybody could read hold on: whoever reads the file keeps
 * them beside it, so that all who ask in between, and after a restart, have the same.
 */
export class PricesInForce {
  readonly #path: string
  readonly #shippedPath: string
  /** Which state of the file was read last. */
  #seen: string | null = null
  #costs: ModelCosts = noPrices
  #book: PriceBook = PriceBook.empty
  #problem: PriceProblem | null = null

  constructor(path: string, shippedPath: string = shippedPriceFile()) {
    this.#path = path
    this.#shippedPath = shippedPath
  }

  get costs(): ModelCosts {
    return this.#costs
  }

  get book(): PriceBook {
    return this.#book
  }

  /** The flaw of the file; null if it can be read, or there is none. */
  get problem(): PriceProblem | null {
    return this.#problem
  }

  /** Reads the file again if it is another one than before; says if it was. Costs some microseconds if not. Never throws. */
  look(): boolean {
    const state = priceFileState(this.#path)
    if (state === this.#seen) return false
    const isFirst = this.#seen === null
    this.#seen = state
    const file = readPriceFile(this.#path)
    this.#problem = typeof file === 'object' && 'problem' in file ? file.problem : null
    const good = this.#problem === null ? file : readPriceFile(goodFileOf(this.#path))
    const isGood = typeof good === 'object' && 'costs' in good
    if (this.#problem !== null && !isGood && !isFirst) return true
    let shipped: PriceReading | undefined
    const readShipped = (): PriceReading => (shipped ??= readPriceFile(this.#shippedPath))
    this.#costs = costsIn(inForce(isGood ? good : 'missing', readShipped))
    this.#book = new PriceBook(this.#costs)
    if (isGood && this.#problem === null) {
      const isShipped = good.costs.synced_at === null && isDeepStrictEqual(good.costs, costsIn(readShipped()))
      keepGood(this.#path, isShipped ? null : good.costs)
    }
    return true
  }

  /** A call's cost by these prices; null if no price is known. */
  costOf(call: AskedPrice & MeteredUsage): BookedCost | null {
    return this.#book.costOf(call)
  }
}

/** Another text whenever the file is another, or has been written to. */
export function priceFileState(path: string): string {
  try {
    const { mtimeNs, size, ino, dev } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${size} ${mtimeNs}`
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'none'
  }
}

/** The last content of a price file that could be read, for whoever looks first when it cannot be. */
function goodFileOf(path: string): string {
  return `${path}.good`
}

/** Keeps what could be read; null is what came with the program. The prices hold without it, too. */
function keepGood(path: string, costs: ModelCosts | null): void {
  try {
    if (costs === null) rmSync(goodFileOf(path), { force: true })
    else replaceFile(goodFileOf(path), priceFileText(costs))
  } catch {
    return
  }
}

function costsIn(reading: PriceReading): ModelCosts {
  return reading !== 'missing' && 'costs' in reading ? reading.costs : noPrices
}
