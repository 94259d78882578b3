import type { HandedLimit, LimitReport, LimitUse } from '../../control/control-messages.ts'
import type { OwnedLimit } from './owned-limit.ts'
import type { MinuteLimits } from './minute-limits.ts'

/**
 * Limits a minute while an old and a new gateway run. The new gateway begins with the counts of the old one.
 * While calls wait for a limit at the old gateway, the new one does not use that limit, because those calls
 * came first. The old gateway reports its use, and the answer has the use elsewhere, which it needs to try
 * calls again.
 */
export class LimitsAcrossRestarts {
  readonly #limits: MinuteLimits
  readonly #nowMs: () => number
  /** Returns the limits for which calls wait here. */
  readonly #awaited: () => ReadonlySet<object>
  /** The total of each limit that the successor knows. */
  #reported = new Map<OwnedLimit, number>()
  /** The total of each limit that each old gateway knows. */
  readonly #reportedTo = new Map<string, Map<OwnedLimit, number>>()
  /** Keys of limits for which calls wait at gateways before this one. */
  readonly #awaitedBefore = new Map<string, ReadonlySet<string>>()

  constructor(limits: MinuteLimits, nowMs: () => number, awaited: () => ReadonlySet<object>) {
    this.#limits = limits
    this.#nowMs = nowMs
    this.#awaited = awaited
  }

  /** The counts of all limits, for the successor. */
  handover(): readonly HandedLimit[] {
    const nowMs = this.#nowMs()
    const awaited = this.#awaited()
    this.#reported = this.#totals()
    return this.#limits.list(nowMs).map((limit) => {
      const { key, kind, owner, isDerived } = limit
      const { of, upstream, model, client } = owner
      const use = { upstream: upstream ?? '', model, key: client }
      const most = limit.limit === Infinity ? null : limit.limit
      const learned =
        of === 'learned'
          ? { ...use, kind, limit: most, isDerived, pausedMs: this.#limits.pausedMs(use) }
          : null
      return { key, learned, taken: limit.uses(nowMs), isAwaited: awaited.has(limit) }
    })
  }

  /** The use here since the last answered report. */
  report(): readonly LimitReport[] {
    const awaited = this.#awaited()
    return this.#limits.list().map((limit) => {
      const more = limit.total - (this.#reported.get(limit) ?? 0)
      return { key: limit.key, more, isAwaited: awaited.has(limit) }
    })
  }

  /** Applies the successor's answer to a report: the use elsewhere. */
  applyAnswer(report: readonly LimitReport[], elsewhere: readonly LimitUse[]): void {
    this.#add(elsewhere)
    const limits = this.#byKey()
    for (const { key, more } of [...report, ...elsewhere]) {
      const limit = limits.get(key)
      if (limit !== undefined) this.#reported.set(limit, (this.#reported.get(limit) ?? 0) + more)
    }
  }

  /** Adds the counts of the gateway that hands over. */
  adopt(instance: string, handed: readonly HandedLimit[]): void {
    const nowMs = this.#nowMs()
    const limits = this.#byKey()
    for (const { key, learned, taken } of handed) {
      const limit = learned === null ? limits.get(key) : this.#limits.learnedBefore(learned)
      for (const [ageMs = 0, amount = 0] of taken) limit?.add(nowMs, nowMs - ageMs, amount)
    }
    this.#closeFor(instance, handed)
    this.#reportedTo.set(instance, this.#totals())
  }

  /** Adds an old gateway's report. Returns the use elsewhere since its last report. */
  addReport(instance: string, report: readonly LimitReport[]): readonly LimitUse[] {
    const before = this.#reportedTo.get(instance)
    const elsewhere = this.#limits.list().flatMap((limit) => {
      const more = limit.total - (before?.get(limit) ?? limit.total)
      return more === 0 ? [] : [{ key: limit.key, more }]
    })
    this.#add(report)
    this.#closeFor(instance, report)
    this.#reportedTo.set(instance, this.#totals())
    return elsewhere
  }

  /** Forgets an old gateway that has ended. */
  removeGateway(instance: string): void {
    this.#reportedTo.delete(instance)
    this.#closeFor(instance, null)
  }

  #totals(): Map<OwnedLimit, number> {
    return new Map(this.#limits.list().map((limit) => [limit, limit.total]))
  }

  #add(used: readonly LimitUse[]): void {
    const nowMs = this.#nowMs()
    const limits = this.#byKey()
    for (const { key, more } of used) if (more !== 0) limits.get(key)?.add(nowMs, nowMs, more)
  }

  #byKey(): ReadonlyMap<string, OwnedLimit> {
    return new Map(this.#limits.list().map((limit) => [limit.key, limit]))
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
    for (const limit of this.#limits.list()) limit.isClosed = closed.some((keys) => keys.has(limit.key))
    this.#limits.onRoom()
  }
}
