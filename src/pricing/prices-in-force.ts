import { rmSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { PriceProblem } from '../api/costs.ts'
import { codeOf } from '../lib/errors.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import type { MeteredUsage } from './cost.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { type AskedPrice, type BookedCost, PriceBook } from './price-book.ts'
import { overShipped, priceFileText, readCosts, readPriceFile, shippedPriceFile } from './price-file.ts'

/**
 * The prices that hold at the moment: those of the file, and until a first sync beneath them those that came with the
 * program. While what stands there cannot be read, or is gone since the first look, the last that anybody could read hold on: whoever reads the file keeps
 * them beside it, so that all who ask in between, and after a restart, have the same.
 */
export class PricesInForce {
  readonly #path: string
  readonly #shippedPath: string
  /** Which state of the file was read last. */
  #seen: string | null = null
  costs: ModelCosts = noPrices
  book: PriceBook = new PriceBook(noPrices)
  /** The flaw of the file; null if it can be read, or there is none. */
  problem: PriceProblem | null = null

  constructor(path: string, shippedPath: string = shippedPriceFile()) {
    this.#path = path
    this.#shippedPath = shippedPath
  }

  /** Reads the file again if it is another one than before; says if it was. Costs some microseconds if not. Never throws. */
  reloadIfChanged(): boolean {
    const state = priceFileState(this.#path)
    if (state === this.#seen) return false
    const isFirst = this.#seen === null
    this.#seen = state
    const file = readPriceFile(this.#path)
    this.problem = 'problem' in file ? file.problem : null
    if ('costs' in file && file.costs === null && !isFirst) {
      // As some editors have it for a moment, before the new one is there.
      this.problem = { message: 'It is gone; the next start goes without it.', line: null, column: null }
      return true
    }
    const costs = 'costs' in file ? file.costs : readCosts(lastGoodFileOf(this.#path))
    if (this.problem !== null && costs === null && !isFirst) return true
    let shipped: ModelCosts | null | undefined
    const readShipped = (): ModelCosts | null => (shipped ??= readCosts(this.#shippedPath))
    this.costs = overShipped(costs, readShipped) ?? noPrices
    this.book = new PriceBook(this.costs)
    if (costs !== null && this.problem === null) {
      const isShipped = costs.synced_at === null && isDeepStrictEqual(costs, readShipped())
      saveLastGood(this.#path, isShipped ? null : costs)
    }
    return true
  }

  /** A call's cost by these prices; null if no price is known. */
  costOf(call: AskedPrice & MeteredUsage): BookedCost | null {
    return this.book.costOf(call)
  }
}

/** Another text whenever the file is another, or has been written to. */
export function priceFileState(path: string): string {
  try {
    const { mtimeNs, size, ino, dev } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${size} ${mtimeNs}`
  } catch (error) {
    return String(codeOf(error))
  }
}

/** The last content of a price file that could be read, for whoever looks first when it cannot be. */
function lastGoodFileOf(path: string): string {
  return `${path}.good`
}

/** Keeps what could be read; null is what came with the program. */
function saveLastGood(path: string, costs: ModelCosts | null): void {
  try {
    if (costs === null) rmSync(lastGoodFileOf(path), { force: true })
    else replaceFile(lastGoodFileOf(path), priceFileText(costs))
  } catch {
    // The prices hold without it, too.
  }
}
