import { CodedError } from '../lib/errors.ts'
import { changeFile } from '../lib/files/change-file.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { placeInFile, priceFileText, readPricesInForce } from './price-file.ts'

/** Why a price file was not changed. */
export class PriceFileError extends CodedError<'prices_busy' | 'broken_price_file' | 'prices_not_kept'> {}

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
  const refusal = (why: 'busy' | 'not_kept', message: string): PriceFileError =>
    new PriceFileError(`prices_${why}`, message)
  return changeFile(path, { limitMs, flush: true, refusal }, (replace) => {
    const [costs, answer] = change(pricesToChange(path))
    if (costs !== null) replace(priceFileText(costs))
    return answer
  })
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
  throw new PriceFileError('broken_price_file', message)
}
