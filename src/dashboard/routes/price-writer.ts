import type { PriceEntry } from '../../api/costs.ts'
import type { Clock } from '../../call/clock.ts'
import { JsonValueError } from '../../options/json-check.ts'
import { changePrices } from '../../pricing/change-prices.ts'
import { withoutOverride, withOverride } from '../../pricing/overrides.ts'
import { priceFileState } from '../../pricing/prices-in-force.ts'
import { RequestError } from '../http/request-error.ts'

/** Changes one's own prices in the price file. */
export interface PriceWriter {
  /** Another text whenever the price file is another: answers about it are not shared beyond that. */
  fileState(): string
  /** Rejects with {@link RequestError} or `PriceFileError`. */
  set(name: string, body: unknown): Promise<PriceEntry>
  /** False if there is none of that name. Rejects with `PriceFileError`. */
  remove(name: string): Promise<boolean>
}

/** Writes to the price file at a path. */
export function priceWriter(path: string, clock: Pick<Clock, 'wallTime'>): PriceWriter {
  return {
    fileState: () => priceFileState(path),
    set: (name, body) =>
      changePrices(path, (before) => {
        const { costs, entry } = withPrice(before, name, body, new Date(clock.wallTime()).toISOString())
        return [costs, entry]
      }),
    remove: (name) =>
      changePrices(path, (before) => {
        const costs = withoutOverride(before, name)
        return [costs, costs !== null]
      }),
  }
}

function withPrice(...price: Parameters<typeof withOverride>): ReturnType<typeof withOverride> {
  try {
    return withOverride(...price)
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const { path, allowed, got } = error
    const param = String(path[0])
    const shown = got === undefined ? 'nothing' : JSON.stringify(got).slice(0, 100)
    throw new RequestError('invalid_price', `${param} must be ${allowed}; got ${shown}`, { param })
  }
}
