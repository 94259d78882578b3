import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RepriceDay, RepriceResult } from '../../api/database-job.ts'
import { ZonedTime } from '../../lib/zoned-time.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { type SummedCall, valueIn } from '../rollup/summed-calls.ts'

/** Calls whose cost changes; costs are in nano-dollars, null if no call has one. */
interface Sums {
  calls: number
  before: number | null
  after: number | null
  newlyPriced: number
  newlyUnpriced: number
}

/** Most groups by day and model; later models are put together under {@link restModel}. */
const mostGroups = 5000
const restModel = 'other'

/** Adds up calls by local day and model, and in all. */
export class RepriceDays {
  readonly #zone: ZonedTime
  readonly #totals = noSums()
  /** By day and model. */
  readonly #days = new Map<string, readonly [day: string, model: string | null, sums: Sums]>()

  constructor(timeZone: string) {
    this.#zone = new ZonedTime(timeZone)
  }

  /** Adds a call with its old cost. `after`: its new cost in nano-dollars. */
  add(call: SummedCall, model: string | null, after: number | null): void {
    const day = this.#zone.key('day', startedAtMs(valueIn(call, 'id') ?? 0))
    const before = valueIn(call, 'cost_nano_usd')
    for (const sums of [this.#totals, this.#sumsOf(day, model)]) {
      sums.calls += 1
      sums.before = sum(sums.before, before)
      sums.after = sum(sums.after, after)
      if (before === null && after !== null) sums.newlyPriced += 1
      if (before !== null && after === null) sums.newlyUnpriced += 1
    }
  }

  /** The result, oldest day first. */
  summary(): Omit<RepriceResult, 'looked_calls' | 'reported_calls' | 'duration_ms'> {
    const days = [...this.#days].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      ...summaryOf(this.#totals),
      days: days.map(([, [day, model, sums]]) => Object.assign({ day, model }, summaryOf(sums))),
    }
  }

  #sumsOf(day: string, model: string | null): Sums {
    const name = `${day} ${model ?? ''}`
    const isFull = this.#days.size >= mostGroups && !this.#days.has(name) && model !== restModel
    if (isFull) return this.#sumsOf(day, restModel)
    return getOrAdd(this.#days, name, () => [day, model, noSums()] as const)[2]
  }
}

function noSums(): Sums {
  return { calls: 0, before: null, after: null, newlyPriced: 0, newlyUnpriced: 0 }
}

function summaryOf({
  calls,
  before,
  after,
  newlyPriced,
  newlyUnpriced,
}: Sums): Omit<RepriceDay, 'day' | 'model'> {
  return {
    calls,
    before_usd: before === null ? null : before / 1e9,
    after_usd: after === null ? null : after / 1e9,
    newly_priced: newlyPriced,
    newly_unpriced: newlyUnpriced,
  }
}

function sum(first: number | null, second: number | null): number | null {
  return first === null ? second : first + (second ?? 0)
}
