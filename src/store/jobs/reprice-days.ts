import { ZonedTime } from '../../lib/zoned-time.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { type FigureRow, valueIn } from '../rollup/call-figures.ts'

/** Calls of one local day and model whose cost changes. Sums are in nano-dollars, null if no call has a cost. */
export interface RepricedDay {
  readonly day: string
  readonly model: string | null
  readonly calls: number
  readonly beforeNanoUsd: number | null
  readonly afterNanoUsd: number | null
  /** Calls that had no cost before, and calls that have none any more. */
  readonly newlyPriced: number
  readonly newlyUnpriced: number
}

/** Calls of all days and models. */
export type RepricedWhole = Omit<RepricedDay, 'day' | 'model'>

type Counted<Sums> = { -readonly [K in keyof Sums]: Sums[K] }

/** Days and models that are told apart; what comes later is put together under {@link restModel}. */
const mostGroups = 5000
const restModel = 'other'
const none = { calls: 0, beforeNanoUsd: null, afterNanoUsd: null, newlyPriced: 0, newlyUnpriced: 0 } as const

/** Adds calls up by local day and model. */
export class RepriceDays {
  readonly whole: Counted<RepricedWhole> = { ...none }
  readonly #zone: ZonedTime
  /** By day and model. */
  readonly #days = new Map<string, Counted<RepricedDay>>()

  constructor(timeZone: string) {
    this.#zone = new ZonedTime(timeZone)
  }

  /** A call as it was, and what it costs from now on. */
  add(call: FigureRow, model: string | null, afterNanoUsd: number | null): void {
    const day = this.#zone.key('day', startedAtMs(valueIn(call, 'id') ?? 0))
    const beforeNanoUsd = valueIn(call, 'cost_nano_usd')
    for (const counted of [this.whole, this.#group(day, model)]) {
      counted.calls += 1
      counted.beforeNanoUsd = sum(counted.beforeNanoUsd, beforeNanoUsd)
      counted.afterNanoUsd = sum(counted.afterNanoUsd, afterNanoUsd)
      if (beforeNanoUsd === null && afterNanoUsd !== null) counted.newlyPriced += 1
      if (beforeNanoUsd !== null && afterNanoUsd === null) counted.newlyUnpriced += 1
    }
  }

  /** The oldest first. */
  days(): readonly RepricedDay[] {
    return [...this.#days].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, day]) => day)
  }

  #group(day: string, model: string | null): Counted<RepricedDay> {
    const name = `${day} ${model ?? ''}`
    const known = this.#days.get(name)
    if (known !== undefined) return known
    if (this.#days.size >= mostGroups && model !== restModel) return this.#group(day, restModel)
    const group = { day, model, ...none }
    this.#days.set(name, group)
    return group
  }
}

function sum(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0)
}
