import type { HandedLimit, LimitReport } from '../../control/control-messages.ts'
import type { KeptLimit } from './kept-limit.ts'
import type { KeptLimits } from './kept-limits.ts'

/**
 * Limits a minute while two gateways run: the new one begins with what the old one has counted, and takes nothing of a limit for
 * which calls wait at the old one, as those came first. The old one reports what its calls take.
 */
export class LimitsAcrossRestarts {
  readonly #kept: KeptLimits
  readonly #nowMs: () => number
  /** Limits for which calls wait here. */
  readonly #awaited: () => ReadonlySet<object>
  /** What the successor knows of each limit, as its total. */
  readonly #reported = new Map<KeptLimit, number>()
  /** Keys of limits for which calls wait at gateways before this one. */
  readonly #awaitedBefore = new Map<string, ReadonlySet<string>>()

  constructor(kept: KeptLimits, nowMs: () => number, awaited: () => ReadonlySet<object>) {
    this.#kept = kept
    this.#nowMs = nowMs
    this.#awaited = awaited
  }

  /** For the gateway that takes over. */
  handover(): readonly HandedLimit[] {
    const nowMs = this.#nowMs()
    const awaited = this.#awaited()
    return this.#kept.list().map((limit) => {
      this.#reported.set(limit, limit.total)
      const isLearned = limit.owner.of === 'learned'
      return {
        key: limit.key,
        learned: isLearned ? limit.limit : null,
        taken: limit.taken(nowMs),
        isAwaited: awaited.has(limit),
      }
    })
  }

  /** What calls here have taken since the last report that was answered. */
  report(): readonly LimitReport[] {
    const awaited = this.#awaited()
    return this.#kept.list().map((limit) => {
      const more = limit.total - (this.#reported.get(limit) ?? 0)
      return { key: limit.key, more, isAwaited: awaited.has(limit) }
    })
  }

  /** The successor knows it. */
  answered(report: readonly LimitReport[]): void {
    const more = new Map(report.map((each) => [each.key, each.more]))
    for (const limit of this.#kept.list())
      this.#reported.set(limit, (this.#reported.get(limit) ?? 0) + (more.get(limit.key) ?? 0))
  }

  /** A gateway of this name hands over. */
  adopt(instance: string, handed: readonly HandedLimit[]): void {
    const nowMs = this.#nowMs()
    const limits = this.#byKey()
    for (const { key, learned, taken } of handed) {
      const limit = learned === null ? limits.get(key) : this.#kept.learnedBefore(key, learned)
      for (const [ageMs = 0, amount = 0] of taken) limit?.add(nowMs, nowMs - ageMs, amount)
    }
    this.#closeFor(instance, handed)
  }

  /** A gateway before this one reports; null if it has left. */
  before(instance: string, report: readonly LimitReport[] | null): void {
    const nowMs = this.#nowMs()
    const limits = this.#byKey()
    for (const { key, more } of report ?? []) if (more !== 0) limits.get(key)?.add(nowMs, nowMs, more)
    this.#closeFor(instance, report)
  }

  #byKey(): ReadonlyMap<string, KeptLimit> {
    return new Map(this.#kept.list().map((limit) => [limit.key, limit]))
  }

  #closeFor(
    instance: string,
    limits: readonly { readonly key: string; readonly isAwaited: boolean }[] | null,
  ): void {
    if (limits === null) this.#awaitedBefore.delete(instance)
    else {
      const awaited = limits.filter(({ isAwaited }) => isAwaited)
      this.#awaitedBefore.set(instance, new Set(awaited.map(({ key }) => key)))
    }
    const closed = [...this.#awaitedBefore.values()]
    for (const limit of this.#kept.list()) limit.isClosed = closed.some((keys) => keys.has(limit.key))
    this.#kept.onRoom()
  }
}
