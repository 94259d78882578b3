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
/** A database that has not told by then what the last minute used is waited for no longer. */
const longestReadMs = 10_000
/** More limits are not reported. */
const mostReported = 100

export interface LimitSources {
  readonly clock: Clock
  /** Limits that providers tell of are kept, too. */
  readonly learns: boolean
  readonly admissions: () => readonly SlotLimiter[]
  readonly upstreams: Upstreams
  readonly clients: WatchedClients
  /** Other gateways may divide these limits with this one. */
  readonly isShared: boolean
  /** It takes over from a gateway that tells what it used. */
  readonly isSuccessor: boolean
  /** Calls that were sent from an instant on, as the database has them. */
  readonly recentCalls: (sentSinceMs: number) => Promise<readonly RecentCall[] | null>
}

export interface LimitParts extends ProviderLimits {
  /** Upstreams or clients have changed. */
  refresh(): void
  /** So many gateways share the limits. */
  divide(gateways: number): void
  report(): readonly MinuteLimitUse[]
  readonly acrossRestarts: LimitsAcrossRestarts
}

/** The limits a minute of providers. */
export function makeProviderLimits(sources: LimitSources): LimitParts {
  const { clock, learns, admissions, upstreams, clients, isShared, isSuccessor, recentCalls } = sources
  const kept = new MinuteLimits(() => clock.now(), learns)
  kept.onRoom = () => {
    for (const each of admissions()) each.wake()
  }
  kept.onChange = () => {
    for (const each of admissions()) each.restake()
  }
  const refresh = (): void => kept.set(Array.from(upstreams.configured(), limitsOf), clients.minuteLimits)
  refresh()
  const { promise: divided, resolve: isDivided } = Promise.withResolvers<void>()
  const divide = (gateways: number): void => {
    kept.divide(gateways)
    isDivided()
  }
  if (isSuccessor || !isShared) divide(1)
  if (!isSuccessor && kept.list().length > 0) {
    const past = recentCalls(clock.wallTime() - minuteMs)
    kept
      .readPast(
        divided.then(() => past),
        clock,
        longestReadMs,
      )
      .catch(reportFault)
  }
  const report = (): readonly MinuteLimitUse[] => {
    const waiting = waitingFor(admissions())
    const uses = kept.list().map((limit) => {
      const { owner, kind } = limit
      const { of, upstream, model, client } = owner
      const used = Math.round(limit.used(clock.now()))
      const most = Math.floor(limit.limit)
      return { of, upstream, model, client, kind, limit: most, used, waiting: waiting.get(limit) ?? 0 }
    })
    return uses.sort((one, other) => other.waiting - one.waiting).slice(0, mostReported)
  }
  const awaited = (): ReadonlySet<object> => {
    const groups = new Set(waitingGroups(admissions()))
    return new Set([...groups].flatMap(({ limits }) => limits))
  }
  const acrossRestarts = new LimitsAcrossRestarts(kept, () => clock.now(), awaited)
  return { seen: new SeenLimits(), kept, refresh, divide, report, acrossRestarts }
}

/** How many calls wait for a limit, or wait behind one that does. */
function waitingFor(admissions: readonly SlotLimiter[]): ReadonlyMap<object, number> {
  const waiting = new Map<object, number>()
  for (const { waitsFor } of waitingGroups(admissions))
    if (waitsFor !== null) waiting.set(waitsFor, (waiting.get(waitsFor) ?? 0) + 1)
  return waiting
}

/** The group of each waiting call that limits a minute concern. */
function waitingGroups(admissions: readonly SlotLimiter[]): readonly LimitGroup[] {
  const stakes = admissions.flatMap((each) => each.stakes())
  return stakes.flatMap(({ group }) => (group instanceof LimitGroup ? group : []))
}

function limitsOf({ name, setting }: Upstream): UpstreamLimits {
  const { max_rpm, max_tpm, limits = {} } = setting
  const models = Object.entries(limits).map(([pattern, { rpm, tpm }]) => {
    return { pattern, takes: patternMatcher(pattern), max_rpm: rpm, max_tpm: tpm }
  })
  return { name, max_rpm, max_tpm, models }
}
