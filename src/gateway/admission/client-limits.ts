import type { ClientUse } from '../../api/clients.ts'
import type { ClientUsage, MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { Caller } from './admission.ts'
import type { ClientCalls, LocalAdmission } from './local-admission.ts'
import type { BudgetOwners } from './budget.ts'
import { LocalBudget } from './local-budget.ts'
import { reportFault } from '../../lib/fault.ts'
import {
  type Owner,
  clientOwner,
  isUpstream,
  keyOwner,
  nameOfOwner,
  ownerOfEntry,
  upstreamOwner,
} from './owner.ts'

/** A call waits so long to learn what its client used before. */
const waitLimitMs = 10_000
const unknownRetryS = 10
/** More clients are not reported. */
const mostReported = 100

/** What a person has said of a client, or of the key with a fingerprint. */
export interface ClientSetting {
  readonly max_concurrent?: number | undefined
  readonly token_limit?: number | undefined
  readonly name?: string | undefined
}

export interface ClientLimitsOptions {
  readonly clock: Clock
  /** The slots of each upstream: a limit holds at each of them. */
  readonly admissions: () => readonly LocalAdmission[]
  /** Whether calls are refused whose client's budget is used up. */
  readonly rejects: boolean
  /** What clients and keys used, and what was used at upstreams, by calls that ended before an instant; null if it cannot be told. */
  readonly usageOfClients: (
    of: readonly string[],
    at: readonly string[],
    endedBeforeMs: number,
  ) => Promise<readonly ClientUsage[] | null>
}

/** What a client, or an upstream, with a budget of its own used: all that counts. */
export interface UsedByClient {
  /** A name in the file of clients, or of upstreams. */
  readonly of: string
  readonly isUpstream?: boolean | undefined
  readonly used: readonly MinuteUsage[]
}

function ownerTold({ of, isUpstream: isOne = false }: UsedByClient): Owner {
  return isOne ? upstreamOwner(of) : ownerOfEntry(of)
}

/** Of a call that counts for nobody's own. */
export const noBudgets: readonly ClientBudget[] = []

/** The budget of a client, a key, or an upstream. */
export class ClientBudget {
  readonly owner: Owner
  readonly budget: LocalBudget
  readonly #clock: Clock
  readonly #rejects: boolean
  readonly #read = Promise.withResolvers<void>()

  constructor(owner: Owner, limit: number, { clock, rejects }: ClientLimitsOptions) {
    this.owner = owner
    this.budget = new LocalBudget(limit, rejects, owner)
    this.#clock = clock
    this.#rejects = rejects
  }

  /** As it stands in the file of clients, or of upstreams. */
  get name(): string {
    return nameOfOwner(this.owner)
  }

  /** What was used before is known now. */
  restore(minutes: readonly MinuteUsage[]): void {
    this.budget.restore(minutes)
    this.#read.resolve()
  }

  /** As {@link LocalBudget.check}. A promise while it is not known what was used before; rejects if that takes too long. */
  check(tokens: number): Promise<void> | null {
    if (this.#rejects && !this.budget.isKnown) return this.#checkOnceKnown(tokens)
    this.budget.check(this.#clock.wallTime(), tokens)
    return null
  }

  reserve(tokens: number): Disposable | null {
    return this.budget.reserve(this.#clock.wallTime(), tokens)
  }

  async #checkOnceKnown(tokens: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#clock.after(waitLimitMs, () => late.resolve())
    await Promise.race([this.#read.promise, late.promise])
    cancel()
    if (!this.budget.isKnown) {
      const message = `What ${this.name} used of its tokens cannot be read from the database yet, so no call of it is let through (--budget-action reject).`
      throw new Failure('budget_unknown', message, { retryAfterS: unknownRetryS })
    }
    this.budget.check(this.#clock.wallTime(), tokens)
  }
}

/** Whose budgets these are, for a gateway that takes over. */
export function ownersOf(budgets: readonly ClientBudget[]): BudgetOwners | undefined {
  if (budgets.length === 0) return undefined
  const upstream = budgets.find(({ owner }) => isUpstream(owner))
  const client = budgets.find(({ owner }) => !isUpstream(owner))
  return { of: client?.name, at: upstream?.name }
}

/** What people said of clients and keys, in force: names, slots of their own, tokens of their own. */
export class ClientLimits {
  readonly #options: ClientLimitsOptions
  #settings: ReadonlyMap<string, ClientSetting> = new Map()
  #slots: ReadonlyMap<string, number> = new Map()
  /** Limits of tokens, by upstream. */
  #upstreams: ReadonlyMap<string, number> = new Map()
  readonly #budgets = new Map<Owner, ClientBudget>()

  constructor(options: ClientLimitsOptions) {
    this.#options = options
  }

  /** The name that a person gave the calls of a key. */
  nameOf(keyFingerprint: string | null): string | null {
    if (keyFingerprint === null || this.#settings.size === 0) return null
    return this.#settings.get(keyFingerprint)?.name ?? null
  }

  /** The budgets that a call's tokens count against besides the whole one: of its key or else its client, of its upstream. */
  budgetsOf(caller: Caller, upstreamName: string | null): readonly ClientBudget[] {
    if (this.#budgets.size === 0) return noBudgets
    const own = this.#budgetOf(caller)
    const there = this.budgetAt(upstreamName)
    return [own, there].filter((budget) => budget !== null)
  }

  /** The budget of an upstream, if it has one. */
  budgetAt(upstreamName: string | null): ClientBudget | null {
    return upstreamName === null ? null : (this.#budgets.get(upstreamOwner(upstreamName)) ?? null)
  }

  #budgetOf({ client, keyFingerprint }: Caller): ClientBudget | null {
    const byKey = keyFingerprint === null ? undefined : this.#budgets.get(keyOwner(keyFingerprint))
    return byKey ?? (client === null ? undefined : this.#budgets.get(clientOwner(client))) ?? null
  }

  /**
   * These hold from now on, for calls that wait, too. `told` is what a predecessor knows of what was used; what it does not
   * tell is read from the database.
   */
  apply(settings: ReadonlyMap<string, ClientSetting>, told: readonly UsedByClient[] = []): void {
    this.#settings = settings
    const slots = new Map<string, number>()
    for (const [of, { max_concurrent: most }] of settings) if (most !== undefined) slots.set(of, most)
    this.#slots = slots
    this.limitAll()
    this.#limitTokens(told)
  }

  /** Upstreams may have so many tokens from now on; the rest as for {@link apply}. */
  applyUpstreams(limits: ReadonlyMap<string, number>, told: readonly UsedByClient[] = []): void {
    this.#upstreams = limits
    this.#limitTokens(told)
  }

  #limitTokens(told: readonly UsedByClient[]): void {
    const limits = new Map<Owner, number>()
    for (const [of, { token_limit: limit }] of this.#settings) {
      if (limit !== undefined) limits.set(ownerOfEntry(of), limit)
    }
    for (const [name, limit] of this.#upstreams) limits.set(upstreamOwner(name), limit)
    for (const owner of this.#budgets.keys()) if (!limits.has(owner)) this.#budgets.delete(owner)
    const unknown: ClientBudget[] = []
    for (const [owner, limit] of limits) {
      const known = this.#budgets.get(owner)
      if (known !== undefined) {
        known.budget.setLimit(limit)
        continue
      }
      const added = new ClientBudget(owner, limit, this.#options)
      this.#budgets.set(owner, added)
      const used = told.find((each) => ownerTold(each) === owner)?.used
      if (used === undefined) unknown.push(added)
      else added.restore(used)
    }
    if (unknown.length > 0) this.#read(unknown).catch(reportFault)
  }

  /** The tokens that an upstream with a limit has used; null while that is not known. */
  usedAt(upstreamName: string): number | null {
    const budget = this.budgetAt(upstreamName)?.budget
    return budget?.isKnown === true ? budget.snapshot(this.#options.clock.wallTime()).totalUsed : null
  }

  /** They hold at upstreams that have come, too. */
  limitAll(): void {
    for (const admission of this.#options.admissions()) admission.setLimits(this.#slots)
  }

  /** A call that another gateway finished used this. */
  used(usage: MinuteUsage): void {
    if (usage.of !== undefined) this.#budgets.get(ownerOfEntry(usage.of))?.budget.addTo(usage)
    this.budgetAt(usage.at ?? null)?.budget.addTo(usage)
  }

  /** For the gateway that takes over. */
  handover(): readonly (UsedByClient & { readonly isUpstream: boolean })[] {
    const nowMs = this.#options.clock.wallTime()
    return [...this.#budgets.values()]
      .filter(({ budget }) => budget.isKnown)
      .map(({ owner, name, budget }) => {
        return { of: name, isUpstream: isUpstream(owner), used: budget.minutes(nowMs) }
      })
  }

  /** Who has calls or limits, those with the most waiting calls first. */
  report(): readonly ClientUse[] {
    const { clock } = this.#options
    const nowMs = clock.wallTime()
    const calls = this.#calls()
    const limited = [...this.#settings].filter(
      ([, { max_concurrent, token_limit }]) => max_concurrent !== undefined || token_limit !== undefined,
    )
    const names = new Set([...calls.keys(), ...limited.map(([of]) => of)])
    return [...names]
      .map((client): ClientUse => {
        const { active, waiting } = calls.get(client) ?? { active: 0, waiting: 0 }
        const { max_concurrent = null, token_limit = null } = this.#settings.get(client) ?? {}
        const budget = this.#budgets.get(ownerOfEntry(client))?.budget
        const used_tokens = budget?.isKnown === true ? budget.snapshot(nowMs).totalUsed : null
        return { client, active, waiting, max_concurrent, token_limit, used_tokens }
      })
      .sort((one, other) => other.waiting - one.waiting || other.active - one.active)
      .slice(0, mostReported)
  }

  #calls(): ReadonlyMap<string, ClientCalls> {
    const calls = new Map<string, ClientCalls>()
    for (const admission of this.#options.admissions()) {
      for (const [client, { active, waiting }] of admission.byClient()) {
        const before = calls.get(client) ?? { active: 0, waiting: 0 }
        calls.set(client, { active: before.active + active, waiting: before.waiting + waiting })
      }
    }
    return calls
  }

  /** Reads what these used before; what their calls use from now on is added as they end. */
  async #read(budgets: readonly ClientBudget[]): Promise<void> {
    const { usageOfClients, clock } = this.#options
    const named = [...this.#settings].flatMap(([key, { name }]) =>
      name === undefined ? [] : [{ key, name }],
    )
    const own = new Set(budgets.map(({ owner }) => owner))
    const keys = named.filter(({ name }) => own.has(clientOwner(name))).map(({ key }) => key)
    const of = [...own].filter((owner) => !isUpstream(owner)).map(nameOfOwner)
    const at = [...own].filter(isUpstream).map(nameOfOwner)
    const found = await usageOfClients([...of, ...keys], at, clock.wallTime())
    if (found === null) return
    const minutes = new Map(budgets.map((budget) => [budget, [] as MinuteUsage[]]))
    for (const usage of found) {
      const { client, keyFingerprint, upstreamName } = usage
      const caller = { client: client ?? this.nameOf(keyFingerprint), keyFingerprint }
      for (const budget of this.budgetsOf(caller, upstreamName)) minutes.get(budget)?.push(usage)
    }
    for (const [budget, used] of minutes) budget.restore(used)
  }
}
