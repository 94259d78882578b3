import { rmSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { PriceProblem } from '../api/costs.ts'
import { codeOf } from '../lib/errors.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { type BookedCost, PriceBook, type PriceableCall } from './price-book.ts'
import { overShipped, priceFileText, readCosts, readPriceFile, shippedPriceFile } from './price-file.ts'

/**
 * The prices in force: those of the file and, until the first sync, the shipped prices below them. While the
 * file is broken or missing, the last good prices stay in force. Each reader saves a copy beside the file, so
 * that all processes, also after a restart, have the same prices.
 */
export class PricesInForce {
  readonly #path: string
  readonly #shippedPath: string
  /** The state of the file at the last read; null before it. */
  #lastState: string | null = null
  costs: ModelCosts = noPrices
  book: PriceBook = new PriceBook(noPrices)
  /** The flaw of the file; null if it is valid, or missing. */
  problem: PriceProblem | null = null

  constructor(path: string, shippedPath: string = shippedPriceFile()) {
    this.#path = path
    this.#shippedPath = shippedPath
  }

  /**
   * Reads the file again if it has changed, and returns whether it has. Without a change that takes some
   * microseconds. Never throws.
   */
  reloadIfChanged(): boolean {
    const state = priceFileState(this.#path)
    if (state === this.#lastState) return false
    const isFirst = this.#lastState === null
    this.#lastState = state
    const file = readPriceFile(this.#path)
    this.problem = 'problem' in file ? file.problem : null
    if ('costs' in file && file.costs === null && !isFirst) {
      // Some editors remove a file for a moment and then write it again.
      this.problem = {
        message: 'The file was deleted; the next start will not use it.',
        line: null,
        column: null,
      }
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
  costOf(call: PriceableCall): BookedCost | null {
    return this.book.costOf(call)
  }
}

/** The state of a file: a text that differs after each change. */
export function priceFileState(path: string): string {
  try {
    const { mtimeNs, size, ino, dev } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${size} ${mtimeNs}`
  } catch (error) {
    return String(codeOf(error))
  }
}

/** The path of the copy with the last good content. */
function lastGoodFileOf(path: string): string {
  return `${path}.good`
}

/** Saves a copy of good prices; with null (the shipped prices), deletes the copy. */
function saveLastGood(path: string, costs: ModelCosts | null): void {
  try {
    if (costs === null) rmSync(lastGoodFileOf(path), { force: true })
    else replaceFile(lastGoodFileOf(path), priceFileText(costs))
  } catch {
    // The prices are in force without the copy, too.
  }
}
