import type { MinuteLimitUse, ProviderLimit } from '../../api/health-report.ts'
import { estimatedTokens, reportedTokens } from '../../call/budget-tokens.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { RecentCall } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { reportFault } from '../../lib/fault.ts'
import type { Owner } from '../admission/owner.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import { finalCodes, reportsLimits } from './limit-headers.ts'
import { LimitsAcrossRestarts } from './limits-across-restarts.ts'
import { MinuteLimits, type MinuteSetting, type UpstreamLimits } from './minute-limits.ts'
import { LimitGroup, type LimitStake, noTokens } from './owned-limit.ts'
import { type LimitedUse, SeenLimits, metLimit } from './seen-limits.ts'

const minuteMs = 60_000
/** Longest wait for the database to read the use of the last minute. */
const longestReadMs = 10_000
/** Most limits in a report. */
const mostReported = 100

/** The sources of the limits. */
export interface LimitSources {
  readonly clock: Clock
  /** True if calls also wait for the limits that providers report (`--pace learn`). */
  readonly learnsLimits: boolean
  readonly admissions: () => readonly SlotLimiter[]
  /** Limits that a person has set for upstreams, also for removed ones, where calls may still wait. */
  readonly ofUpstreams: () => Iterable<UpstreamLimits>
  readonly ofClients: () => ReadonlyMap<Owner, MinuteSetting>
  /** True if other gateways may divide these limits. */
  readonly isShared: boolean
  /** True if the gateway gets the use of the last minute from its predecessor. */
  readonly isSuccessor: boolean
  /** Reads the calls that were sent since an instant from the database; null if it cannot be read. */
  readonly recentCalls: (sentSinceMs: number) => Promise<readonly RecentCall[] | null>
}

/** The facts of a call that its limits need. */
export interface LimitedCall {
  readonly record: CallRecord
  /** Output tokens that the call allows; 0 without a bound. */
  readonly tokensAsked: number
  readonly timeline: { readonly receivedAt: number; readonly bodyReadAt: number | null }
  /** The model's name as the upstream knows it. */
  readonly modelThere: string | null
  readonly upstream: { readonly name: string; readonly endpoint: { readonly stripsCredentials: boolean } }
}

/** The known limits of providers, and the limits that calls wait for. */
export class ProviderLimits {
  readonly acrossRestarts: LimitsAcrossRestarts
  readonly #sources: LimitSources
  readonly #seen = new SeenLimits()
  readonly #minute: MinuteLimits
  readonly #divided = Promise.withResolvers<void>()

  constructor(sources: LimitSources) {
    const { clock, learnsLimits, admissions, isShared, isSuccessor, recentCalls } = sources
    this.#sources = sources
    this.#minute = new MinuteLimits(() => clock.now(), learnsLimits)
    this.#minute.onRoom = () => {
      for (const admission of admissions()) admission.wake()
    }
    this.#minute.onChange = () => {
      for (const admission of admissions()) admission.restake()
    }
    this.acrossRestarts = new LimitsAcrossRestarts(
      this.#minute,
      () => clock.now(),
      () => new Set(this.#waitingGroups().flatMap(({ limits }) => limits)),
    )
    this.refresh()
    if (isSuccessor || !isShared) this.divide(1)
    if (isSuccessor || this.#minute.list().length === 0) return
    const calls = recentCalls(clock.wallTime() - minuteMs)
    const past = this.#divided.promise.then(() => calls)
    this.#minute.readPast(past, clock, longestReadMs).catch(reportFault)
  }

  /** Call it when upstreams or clients have changed. */
  refresh(): void {
    const { ofUpstreams, ofClients } = this.#sources
    this.#minute.set(ofUpstreams(), ofClients())
  }

  /** Sets how many gateways divide the limits. */
  divide(gateways: number): void {
    this.#minute.divide(gateways)
    this.#divided.resolve()
  }

  /** The share of limits a minute of a call's next attempt; null without a limit. */
  stakeOf(call: LimitedCall): LimitStake | null {
    if (!this.#minute.isOn) return null
    const { record, tokensAsked, timeline } = call
    const { requestBytes } = record
    const sinceMs = timeline.bodyReadAt ?? timeline.receivedAt
    return this.#minute.stakeOf(useOf(call), { caller: record, requestBytes, tokensAsked, sinceMs })
  }

  /** Notes the limits in the answer to an attempt. Returns the provider's limit that the call met; null if it met none. */
  answered(call: LimitedCall, stake: LimitStake | null, head: ResponseHead): string | null {
    if (!reportsLimits(head)) return null
    const seenLimit = this.#seen.note(useOf(call), head, this.#sources.clock.wallTime())
    if (stake !== null) {
      if (seenLimit.isRefusal) this.lost(stake)
      this.#minute.applySeen(stake, seenLimit)
    }
    return seenLimit.isRefusal ? metLimit(seenLimit) : null
  }

  /** Call it when an attempt has used no tokens. If it was not sent, it was no request either. */
  lost(stake: LimitStake, wasSent = true): void {
    this.#minute.settle(stake, wasSent ? noTokens : null)
  }

  /** Replaces a call's estimate by its usage when it has ended. */
  ended({ record, modelThere }: LimitedCall, stake: LimitStake): void {
    const input = record.inputTokens ?? estimatedTokens(record)
    const used = { input, output: record.outputTokens ?? 0 }
    this.#minute.settle(stake, used)
    if (record.status === 429 && finalCodes.has(record.upstreamErrorCode ?? '')) this.#minute.forgive(stake)
    if (reportedTokens(record) > 0 && record.outcome === 'ok')
      this.#minute.learn(modelThere, record.requestBytes, used)
  }

  /** The newest limits that providers reported, for `/health`. */
  seen(): readonly ProviderLimit[] {
    return this.#seen.report(this.#sources.clock.wallTime())
  }

  /** The limits that calls wait for, and their use, for `/health`. `upstreams`: the names of the configured ones. */
  report(upstreams: readonly string[]): readonly MinuteLimitUse[] {
    /** How many calls wait for each limit, with the calls behind them. */
    const waiting = new Map<LimitGroup['waitsFor'], number>()
    for (const { waitsFor } of this.#waitingGroups())
      if (waitsFor !== null) waiting.set(waitsFor, (waiting.get(waitsFor) ?? 0) + 1)
    // Calls may still wait for the limits of a removed upstream.
    const shown = this.#minute.list().filter((limit) => {
      const { upstream } = limit.owner
      return upstream === null || upstreams.includes(upstream) || waiting.has(limit)
    })
    const nowMs = this.#sources.clock.now()
    const uses = shown.map((limit) => {
      const { of, upstream, model, client } = limit.owner
      const used = Math.round(limit.used(nowMs))
      const most = Math.floor(limit.limit)
      const calls = waiting.get(limit) ?? 0
      return { of, upstream, model, client, kind: limit.kind, limit: most, used, waiting: calls }
    })
    return uses.sort((a, b) => b.waiting - a.waiting).slice(0, mostReported)
  }

  /** The groups of the waiting calls that have limits a minute. */
  #waitingGroups(): readonly LimitGroup[] {
    const stakes = this.#sources.admissions().flatMap((admission) => admission.stakes())
    return stakes.flatMap(({ group }) => (group instanceof LimitGroup ? group : []))
  }
}

function useOf({ record, modelThere, upstream }: LimitedCall): LimitedUse {
  const { stripsCredentials } = upstream.endpoint
  return { upstream: upstream.name, model: modelThere, key: stripsCredentials ? null : record.keyFingerprint }
}
