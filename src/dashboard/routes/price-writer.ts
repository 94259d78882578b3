import type { PriceEntry } from '../../api/costs.ts'
import type { Clock } from '../../call/clock.ts'
import type { ModelCosts } from '../../pricing/model-costs.ts'
import { withoutOverride, withOverride } from '../../pricing/overrides.ts'
import {
  costsToChange,
  lockPriceFile,
  placeInFile,
  readPricesInForce,
  writePriceFile,
} from '../../pricing/price-file.ts'
import { priceFileState } from '../../pricing/prices-in-force.ts'
import { RequestProblem } from '../http/request-problem.ts'

const lockLimitMs = 5000

/** Changes one's own prices in the price file, which is read, changed and written in one go. */
export interface PriceWriter {
  /** Another text whenever the price file is another: answers about it are not shared beyond that. */
  fileState(): string
  /** Throws {@link RequestProblem}. */
  set(name: string, body: unknown): Promise<PriceEntry>
  /** False where there is none of that name. */
  remove(name: string): Promise<boolean>
}

/** Writes to the price file at a path. */
export function priceWriter(path: string, clock: Pick<Clock, 'wallTime'>): PriceWriter {
  return {
    fileState: () => priceFileState(path),
    set: async (name, body) => {
      using _lock = await lockOf(path)
      const now = new Date(clock.wallTime()).toISOString()
      const reading = withOverride(costsIn(path), name, body, now)
      if ('problem' in reading) {
        const { param, allowed, got } = reading.problem
        const shown = got === undefined ? 'nothing' : JSON.stringify(got).slice(0, 100)
        const message = `${param} must be ${allowed}; got ${shown}`
        throw new RequestProblem(400, 'invalid_price', message, { param })
      }
      write(path, reading.costs)
      return reading.entry
    },
    remove: async (name) => {
      using _lock = await lockOf(path)
      const costs = withoutOverride(costsIn(path), name)
      if (costs === null) return false
      write(path, costs)
      return true
    },
  }
}

async function lockOf(path: string): Promise<Disposable> {
  const lock = await lockPriceFile(path, lockLimitMs).catch((error: unknown) => {
    throw notKept(path, error)
  })
  if (lock !== null) return lock
  const message = 'Something else is changing the prices; try again in a moment.'
  throw new RequestProblem(503, 'prices_busy', message, { headers: { 'retry-after': '1' } })
}

function costsIn(path: string): ModelCosts {
  return costsToChange(readPricesInForce(path), (problem) => {
    const message = `${path}${placeInFile(problem)} has to be mended first: ${problem.message}`
    return new RequestProblem(409, 'broken_price_file', message)
  })
}

function write(path: string, costs: ModelCosts): void {
  try {
    writePriceFile(path, costs)
  } catch (error) {
    throw notKept(path, error)
  }
}

function notKept(path: string, error: unknown): RequestProblem {
  const reason = error instanceof Error ? error.message : String(error)
  return new RequestProblem(500, 'prices_not_kept', `${path} cannot be written: ${reason}.`)
}
