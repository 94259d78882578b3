import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PriceProblem } from '../api/costs.ts'
import { CodedError, reasonOf } from '../lib/errors.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { lockPriceFile, placeInFile, readPricesInForce, writePriceFile } from './price-file.ts'

/** Why a price file was not changed. */
export class PriceFileError extends CodedError<'prices_busy' | 'broken_price_file' | 'prices_not_kept'> {
  /** The flaw of a broken file. */
  readonly problem: PriceProblem | null

  constructor(code: PriceFileError['code'], message: string, problem: PriceProblem | null = null) {
    super(code, message)
    this.problem = problem
  }
}

/** The prices to write (null: write nothing), and the result for the caller. */
type Change<T> = readonly [costs: ModelCosts | null, answer: T]

/** Time limit for the lock, which others hold while they read and write the file. */
const lockLimitMs = 10_000

/**
 * Reads the prices at a path, and writes the result of `change`, under the lock. Waits for the lock up to
 * `limitMs`. Rejects with {@link PriceFileError}, and with what `change` throws.
 */
export async function changePrices<T>(
  path: string,
  change: (costs: ModelCosts) => Change<T>,
  limitMs: number = lockLimitMs,
): Promise<T> {
  using lock = await orNotWritten(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return lockPriceFile(path, limitMs)
  })
  if (lock === null) {
    throw new PriceFileError('prices_busy', `Something else is changing ${path}; try again in a moment.`)
  }
  const [costs, answer] = change(pricesToChange(path))
  if (costs !== null) await orNotWritten(path, () => writePriceFile(path, costs))
  return answer
}

/**
 * The prices to change. Throws {@link PriceFileError} if the file is broken, because a broken file is never
 * overwritten.
 */
export function pricesToChange(path: string): ModelCosts {
  const reading = readPricesInForce(path)
  if ('costs' in reading) return reading.costs ?? noPrices
  const { problem } = reading
  const message = `${path}${placeInFile(problem)} must be fixed first: ${problem.message}`
  throw new PriceFileError('broken_price_file', message, problem)
}

async function orNotWritten<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw new PriceFileError('prices_not_kept', `${path} cannot be written: ${reasonOf(error)}.`)
  }
}
