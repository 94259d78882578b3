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

type Counted = { -readonly [K in keyof RepricedDay]: RepricedDay[K] }

/** Days and models that are told apart; what comes later is put together under {@link restModel}. */
const mostGroups = 5000
const restModel = 'other'

/** Adds calls up by local day and model. */
export class RepriceDays {
  readonly #zone: ZonedTime
  readonly #modelName: (id: number) => string
  readonly #days = new Map<string, Counted>()
  readonly #whole: Counted = empty('', null)

  constructor(timeZone: string, modelName: (id: number) => string) {
    this.#zone = new ZonedTime(timeZone)
    this.#modelName = modelName
  }

  /** A call as it was, and what it costs from now on. */
  add(call: FigureRow, afterNanoUsd: number | null): void {
    const modelId = valueIn(call, 'model_id')
    const day = this.#zone.key('day', startedAtMs(valueIn(call, 'id') ?? 0))
    const group = this.#group(day, modelId === null ? null : this.#modelName(modelId))
    for (const counted of [this.#whole, group]) count(counted, valueIn(call, 'cost_nano_usd'), afterNanoUsd)
  }

  /** The oldest first. */
  days(): readonly RepricedDay[] {
    return [...this.#days.values()].toSorted(
      (a, b) => compare(a.day, b.day) || compare(a.model ?? '', b.model ?? ''),
    )
  }

  /** All of them together. */
  whole(): Omit<RepricedDay, 'day' | 'model'> {
    return this.#whole
  }

  #group(day: string, model: string | null): Counted {
    const name = `${day} ${model ?? ''}`
    const known = this.#days.get(name)
    if (known !== undefined) return known
    if (this.#days.size >= mostGroups && model !== restModel) return this.#group(day, restModel)
    const group = empty(day, model)
    this.#days.set(name, group)
    return group
  }
}

function empty(day: string, model: string | null): Counted {
  return { day, model, calls: 0, beforeNanoUsd: null, afterNanoUsd: null, newlyPriced: 0, newlyUnpriced: 0 }
}

function count(group: Counted, beforeNanoUsd: number | null, afterNanoUsd: number | null): void {
  group.calls += 1
  group.beforeNanoUsd = sum(group.beforeNanoUsd, beforeNanoUsd)
  group.afterNanoUsd = sum(group.afterNanoUsd, afterNanoUsd)
  if (beforeNanoUsd === null && afterNanoUsd !== null) group.newlyPriced += 1
  if (beforeNanoUsd !== null && afterNanoUsd === null) group.newlyUnpriced += 1
}

function sum(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
