import type { ControlStatus, ControlledGateway, LiveOptions } from '../../src/control/control-messages.ts'
import { ownIdentity } from '../../src/lib/process-identity.ts'

/** A gateway as its control server sees it, that only remembers what it was told. */
export class FakeGateway implements ControlledGateway {
  readonly instance: string
  readonly set: LiveOptions[] = []
  stops = 0

  constructor(instance: string) {
    this.instance = instance
  }

  status(): ControlStatus {
    const figures = { total_admitted: 0, total_queued: 0, total_retries_429: 0, peak_active: 0 }
    return {
      identity: ownIdentity(),
      instance: this.instance,
      version: '0.0.0',
      host: '127.0.0.1',
      port: 1,
      started_at: '2026-11-21T06:00:00.000Z',
      draining: this.stops > 0,
      drain_timeout_ms: 30_000,
      options: { max_concurrent: this.set.at(-1)?.max_concurrent ?? 4 },
      health: {
        status: 'ok',
        upstream: 'http://127.0.0.1:1/v1',
        db: 'data/telemetry.db',
        rate_limiter: { max_concurrent: 4, active: 0, queued: 0, slot_cooldown_ms: 0, ...figures },
        token_budget: { daily_limit: 1, total_used: 0, remaining: 1, percentage_used: 0 },
        pid: process.pid,
        instance: this.instance,
        version: '0.0.0',
        uptime_s: 0,
        telemetry: { written: 0, pending: 0, dropped: 0 },
        warnings: [],
      },
    }
  }

  stop(): void {
    this.stops += 1
  }

  setOptions(options: LiveOptions): void {
    this.set.push(options)
  }
}
