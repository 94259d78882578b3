import { statSync } from 'node:fs'
import type { PriceProblem } from '../api/costs.ts'
import type { MeteredUsage } from './cost.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { type AskedPrice, type BookedCost, PriceBook } from './price-book.ts'
import { inForce, type PriceReading, readPriceFile, shippedPriceFile } from './price-file.ts'

/**
 * The prices that hold at the moment: those of the file, and until a first sync beneath them those that came with the
 * program. While what stands there cannot be read, the last that could be hold on.
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
    const readShipped = (): PriceReading => readPriceFile(this.#shippedPath)
    const file = readPriceFile(this.#path)
    this.#problem = file !== 'missing' && 'problem' in file ? file.problem : null
    if (this.#problem === null || isFirst)
      this.#take(costsIn(inForce(this.#problem === null ? file : 'missing', readShipped)))
    return true
  }

  /** A call's cost by these prices; null if no price is known. */
  costOf(call: AskedPrice & MeteredUsage): BookedCost | null {
    return this.#book.costOf(call)
  }

  #take(costs: ModelCosts): void {
    this.#costs = costs
    this.#book = new PriceBook(costs)
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

function costsIn(reading: PriceReading): ModelCosts {
  return reading !== 'missing' && 'costs' in reading ? reading.costs : noPrices
}
