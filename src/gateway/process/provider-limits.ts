import type { MinuteLimitUse } from '../../api/health-report.ts'
import type { Clock } from '../../call/clock.ts'
import { patternMatcher } from '../../options/upstream-settings.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { ProviderLimits } from '../call/call-limits.ts'
import { LimitGroup } from '../limits/kept-limit.ts'
import { KeptLimits, type UpstreamLimits } from '../limits/kept-limits.ts'
import { SeenLimits } from '../limits/seen-limits.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import type { WatchedClients } from './watched-clients.ts'

/** More limits are not reported. */
const mostReported = 100

export interface LimitSources {
  readonly clock: Clock
  /** Limits that providers tell of are kept, too. */
  readonly learns: boolean
  readonly admissions: () => readonly LocalAdmission[]
  readonly upstreams: Upstreams
  readonly clients: WatchedClients
}

/** The limits a minute of providers. `refresh`: upstreams or clients have changed. */
export function makeProviderLimits({
  clock,
  learns,
  admissions,
  upstreams,
  clients,
}: LimitSources): ProviderLimits & { refresh(): void; report(): readonly MinuteLimitUse[] } {
  const kept = new KeptLimits(() => clock.now(), learns)
  kept.onRoom = () => {
    for (const each of admissions()) each.wake()
  }
  kept.onChange = () => {
    for (const each of admissions()) each.restake()
  }
  const refresh = (): void => kept.set(Array.from(upstreams.configured(), limitsOf), clients.minuteLimits)
  refresh()
  const report = (): readonly MinuteLimitUse[] => {
    const waiting = waitingFor(admissions())
    const uses = kept.list().map((limit) => {
      const { owner, kind } = limit
      const used = Math.round(limit.used(clock.now()))
      return Object.assign({}, owner, {
        kind,
        limit: Math.floor(limit.limit),
        used,
        waiting: waiting.get(limit) ?? 0,
      })
    })
    return uses.sort((one, other) => other.waiting - one.waiting).slice(0, mostReported)
  }
  return { seen: new SeenLimits(), kept, refresh, report }
}

/** How many calls wait for a limit, or wait behind one that does. */
function waitingFor(admissions: readonly LocalAdmission[]): ReadonlyMap<object, number> {
  const waiting = new Map<object, number>()
  for (const admission of admissions) {
    for (const { group } of admission.stakes()) {
      const limit = group instanceof LimitGroup ? group.waitsFor : null
      if (limit !== null) waiting.set(limit, (waiting.get(limit) ?? 0) + 1)
    }
  }
  return waiting
}

function limitsOf({ name, setting }: Upstream): UpstreamLimits {
  const { max_rpm, max_tpm, limits = {} } = setting
  const models = Object.entries(limits).map(([pattern, { rpm, tpm }]) => {
    return { pattern, takes: patternMatcher(pattern), max_rpm: rpm, max_tpm: tpm }
  })
  return { name, max_rpm, max_tpm, models }
}
