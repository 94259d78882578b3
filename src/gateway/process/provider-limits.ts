import type { MinuteLimitUse } from '../../api/health-report.ts'
import type { RecentCall } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { reportFault } from '../../lib/fault.ts'
import { patternMatcher } from '../../options/upstream-settings.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import { LimitGroup } from '../limits/owned-limit.ts'
import type { ProviderLimits } from '../call/call-limits.ts'
import { MinuteLimits, type UpstreamLimits } from '../limits/minute-limits.ts'
import { LimitsAcrossRestarts } from '../limits/limits-across-restarts.ts'
import { SeenLimits } from '../limits/seen-limits.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import type { WatchedClients } from './watched-clients.ts'

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
  readonly upstreams: Upstreams
  readonly clients: WatchedClients
  /** True if other gateways may divide these limits. */
  readonly isShared: boolean
  /** True if the gateway gets the use of the last minute from its predecessor. */
  readonly isSuccessor: boolean
  /** Reads the calls that were sent since an instant from the database; null if it cannot be read. */
  readonly recentCalls: (sentSinceMs: number) => Promise<readonly RecentCall[] | null>
}

/** The limits a minute, and how other parts change them. */
export interface LimitParts extends ProviderLimits {
  /** Call it when upstreams or clients have changed. */
  refresh(): void
  /** Sets how many gateways divide the limits. */
  divide(gateways: number): void
  report(): readonly MinuteLimitUse[]
  readonly acrossRestarts: LimitsAcrossRestarts
}

/** Makes the limits a minute, and connects them to upstreams, clients and the database. */
export function makeProviderLimits(sources: LimitSources): LimitParts {
  const { clock, learnsLimits, admissions, upstreams, clients, isShared, isSuccessor, recentCalls } = sources
  const minute = new MinuteLimits(() => clock.now(), learnsLimits)
  minute.onRoom = () => {
    for (const admission of admissions()) admission.wake()
  }
  minute.onChange = () => {
    for (const admission of admissions()) admission.restake()
  }
  const refresh = (): void => minute.set(Array.from(upstreams.all(), limitsOf), clients.minuteLimits)
  refresh()
  const { promise: divided, resolve: isDivided } = Promise.withResolvers<void>()
  const divide = (gateways: number): void => {
    minute.divide(gateways)
    isDivided()
  }
  if (isSuccessor || !isShared) divide(1)
  if (!isSuccessor && minute.list().length > 0) {
    const past = recentCalls(clock.wallTime() - minuteMs)
    minute
      .readPast(
        divided.then(() => past),
        clock,
        longestReadMs,
      )
      .catch(reportFault)
  }
  const report = (): readonly MinuteLimitUse[] => {
    const waiting = waitingFor(admissions())
    const names = new Set<string | null>(Array.from(upstreams.configured(), ({ name }) => name)).add(null)
    // Calls may still wait for the limits of a removed upstream.
    const shown = minute.list().filter((limit) => names.has(limit.owner.upstream) || waiting.has(limit))
    const uses = shown.map((limit) => {
      const { owner, kind } = limit
      const { of, upstream, model, client } = owner
      const used = Math.round(limit.used(clock.now()))
      const most = Math.floor(limit.limit)
      return { of, upstream, model, client, kind, limit: most, used, waiting: waiting.get(limit) ?? 0 }
    })
    return uses.sort((a, b) => b.waiting - a.waiting).slice(0, mostReported)
  }
  const awaited = (): ReadonlySet<object> => {
    const groups = new Set(waitingGroups(admissions()))
    return new Set([...groups].flatMap(({ limits }) => limits))
  }
  const acrossRestarts = new LimitsAcrossRestarts(minute, () => clock.now(), awaited)
  return { seenLimits: new SeenLimits(), minute, refresh, divide, report, acrossRestarts }
}

/** How many calls wait for each limit, with the calls behind them. */
function waitingFor(admissions: readonly SlotLimiter[]): ReadonlyMap<LimitGroup['waitsFor'], number> {
  const waiting = new Map<LimitGroup['waitsFor'], number>()
  for (const { waitsFor } of waitingGroups(admissions))
    if (waitsFor !== null) waiting.set(waitsFor, (waiting.get(waitsFor) ?? 0) + 1)
  return waiting
}

/** The groups of the waiting calls that have limits a minute. */
function waitingGroups(admissions: readonly SlotLimiter[]): readonly LimitGroup[] {
  const stakes = admissions.flatMap((admission) => admission.stakes())
  return stakes.flatMap(({ group }) => (group instanceof LimitGroup ? group : []))
}

function limitsOf({ name, setting }: Upstream): UpstreamLimits {
  const { max_rpm, max_tpm, limits = {} } = setting
  const models = Object.entries(limits).map(([pattern, { rpm, tpm }]) => {
    return { pattern, takes: patternMatcher(pattern), max_rpm: rpm, max_tpm: tpm }
  })
  return { name, max_rpm, max_tpm, models }
}
