import { basename, isAbsolute } from 'node:path'
import type { HealthReport, PublicHealthReport, SlotReport, UpstreamHealth } from '../../api/health-report.ts'
import type { ClientUse } from '../../api/clients.ts'
import type { RawLogStatus } from '../../api/raw-log.ts'
import type { CallSink, Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { upstreamOwner } from '../admission/owner.ts'
import type { SlotTally } from '../admission/slot-minute.ts'
import type { TokenWindows } from '../admission/token-windows.ts'
import type { ProviderLimits } from '../limits/provider-limits.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Upstreams } from '../routing/upstreams.ts'

/** The use before a start is usually read within this time. */
const budgetLateMs = 2000

/** The sources of a health report. */
export interface HealthSources {
  readonly clock: Clock
  readonly dbPath: string
  readonly instance: string
  readonly version: string
  readonly tally: SlotTally
  readonly clients: { report(): readonly ClientUse[]; readonly warning: Warning | null }
  readonly upstreams: Upstreams
  /** Warnings of the start. */
  readonly ofStart: readonly Warning[]
  readonly tokens: TokenWindows
  readonly providerLimits: ProviderLimits
  readonly sink: CallSink
  readonly rawLog: { status(): RawLogStatus; warnings(): readonly Warning[] }
  /** The sharing of rows; null without sharing. */
  readonly share: { warnings(): readonly Warning[] } | null
  /** The limit that gateways share; null without sharing. */
  readonly limit: {
    status(): NonNullable<HealthReport['shared']>
    warnings(): readonly Warning[]
  } | null
}

/** Makes the health report of a gateway. */
export class Health {
  readonly #sources: HealthSources
  readonly #startedAt: number
  /** How many calls used a path that shows a wrong base URL of the client. */
  wrongBaseUrlCalls = 0

  constructor(sources: HealthSources) {
    this.#sources = sources
    this.#startedAt = sources.clock.now()
  }

  report(draining: boolean): HealthReport {
    const { clock, tally, clients, sink, rawLog, share, limit, upstreams } = this.#sources
    const upstreamReports = Array.from(upstreams.configured(), (upstream) =>
      upstreamHealth(upstream, this.#sources.tokens),
    )
    const tokens = this.#sources.tokens.acrossGateways.snapshot(clock.wallTime())
    const { enabled, file_size_bytes } = rawLog.status()
    const uptimeMs = clock.now() - this.#startedAt
    const isBudgetLate = !tokens.isKnown && uptimeMs > budgetLateMs
    const budgetWarnings = isBudgetLate ? [this.#budgetUnknown()] : []
    const clientWarnings = clients.warning === null ? [] : [clients.warning]
    const ownWarnings = [
      ...sink.warnings(),
      ...rawLog.warnings(),
      ...budgetWarnings,
      ...clientWarnings,
      ...upstreams.warnings,
      ...this.#sources.ofStart,
    ]
    const warnings = [...ownWarnings, ...(share?.warnings() ?? []), ...(limit?.warnings() ?? [])]
    return {
      status: draining ? 'draining' : warnings.length > 0 ? 'degraded' : 'ok',
      upstream: upstreams.default.setting.urls[0] ?? '',
      db: this.#sources.dbPath,
      rate_limiter: {
        ...slotReport(tally, upstreams.default.admission.snapshot().slotCooldownMs),
        max_concurrent: upstreamReports.reduce(
          (sum, { rate_limiter: { max_concurrent } }) => sum + max_concurrent,
          0,
        ),
        queue_order: upstreams.default.admission.queueOrder,
      },
      ...(upstreams.areSeveral && { upstreams: upstreamReports }),
      token_budget: {
        daily_limit: tokens.dailyLimit,
        total_used: tokens.totalUsed,
        remaining: tokens.remaining,
        percentage_used: Math.round(tokens.percentageUsed * 1000) / 1000,
        estimated: tokens.estimated,
        known: tokens.isKnown,
      },
      clients: clients.report(),
      provider_limits: this.#sources.providerLimits.seen(),
      minute_limits: this.#sources.providerLimits.report(upstreamReports.map(({ name }) => name)),
      pid: process.pid,
      instance: this.#sources.instance,
      version: this.#sources.version,
      wrong_base_url_calls: this.wrongBaseUrlCalls,
      uptime_s: Math.floor(uptimeMs / 1000),
      raw_log: { enabled, file_size_bytes },
      ...(limit === null ? {} : { shared: limit.status() }),
      telemetry: sink.figures(),
      warnings,
    }
  }

  #budgetUnknown(): Warning {
    const { dbPath, tokens } = this.#sources
    const meanwhile = tokens.rejects
      ? 'calls wait, and are refused after a while'
      : 'the token budget counts only tokens since the start'
    const message = `the tokens used in the last 24 hours could not be read from ${dbPath} yet: ${meanwhile}. The gateway tries again until it can`
    return { code: 'budget_unknown', message }
  }
}

function upstreamHealth(
  { name, problem, setting, admission, replicas }: Upstream,
  used: TokenWindows,
): UpstreamHealth {
  const { maxConcurrent, slotCooldownMs } = admission.snapshot()
  const states = replicas.states()
  const isUp = states.some(({ failingSinceMs }) => failingSinceMs === null)
  return {
    name,
    state: isUp ? 'up' : 'failing',
    problem,
    rate_limiter: { ...slotReport(admission.tally, slotCooldownMs), max_concurrent: maxConcurrent },
    ...(setting.token_limit !== undefined && {
      token_limit: setting.token_limit,
      used_tokens: used.usedBy(upstreamOwner(name)),
    }),
    replicas: states.map(({ host, inFlight, failingSinceMs, problem: why }) => ({
      host,
      state: failingSinceMs === null ? 'up' : 'failing',
      in_flight: inFlight,
      failing_since: failingSinceMs === null ? null : new Date(failingSinceMs).toISOString(),
      problem: why,
    })),
  }
}

/** The counts of one upstream, or of all. The cooldown is the same for all. */
function slotReport(tally: SlotTally, cooldownMs: number): Omit<SlotReport, 'max_concurrent'> {
  return {
    active: tally.active,
    queued: tally.queued,
    slot_cooldown_ms: cooldownMs,
    total_admitted: tally.totalAdmitted,
    total_queued: tally.totalQueued,
    total_retries_429: tally.totalRetries,
    peak_active: tally.peakActive,
  }
}

/** The part of a report for untrusted clients: nothing about the machine, or about paths and users at the upstream. */
export function publicReport({
  status,
  upstream,
  db,
  rate_limiter,
  token_budget,
}: HealthReport): PublicHealthReport {
  return {
    status,
    upstream: new URL(upstream).origin,
    db: isAbsolute(db) ? basename(db) : db,
    rate_limiter,
    token_budget,
  }
}
