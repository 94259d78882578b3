import type { ModelCosts } from './model-costs.ts'
import { costsToChange, lockPriceFile, placeInFile, readPricesInForce, writePriceFile } from './price-file.ts'

/** Why a price file was not changed. */
export class PriceFileError extends Error {
  readonly code: 'prices_busy' | 'broken_price_file' | 'prices_not_kept'

  constructor(code: PriceFileError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PriceFileError'
    this.code = code
  }
}

/** The prices to write (null: nothing), and the answer to who asked for it. */
type Change<T> = readonly [costs: ModelCosts | null, answer: T]

/**
 * Reads the prices at a path and writes what `change` makes of them, in one go: no other change falls in between. Others
 * are waited for up to `limitMs`. Rejects with {@link PriceFileError}, and with what `change` throws.
 */
export async function changePrices<T>(
  path: string,
  limitMs: number,
  change: (costs: ModelCosts) => Change<T>,
): Promise<T> {
  using lock = await lockPriceFile(path, limitMs).catch((error: unknown) => {
    throw notKept(path, error)
  })
  if (lock === null) {
    throw new PriceFileError('prices_busy', 'Something else is changing the prices; try again in a moment.')
  }
  const [costs, answer] = change(pricesToChange(path))
  try {
    if (costs !== null) writePriceFile(path, costs)
  } catch (error) {
    throw notKept(path, error)
  }
  return answer
}

/** The prices that hold. Throws {@link PriceFileError} if the file is broken: nothing writes over it. */
export function pricesToChange(path: string): ModelCosts {
  return costsToChange(readPricesInForce(path), (problem) => {
    const message = `${path}${placeInFile(problem)} has to be mended first: ${problem.message}`
    return new PriceFileError('broken_price_file', message)
  })
}

function notKept(path: string, error: unknown): PriceFileError {
  const reason = error instanceof Error ? error.message : String(error)
  return new PriceFileError('prices_not_kept', `${path} cannot be written: ${reason}.`, error)
}
