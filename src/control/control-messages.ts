import type { HealthReport } from '../api/health-report.ts'
import type { SettingValue } from '../api/proxy-config.ts'
import type { ProcessIdentity } from '../lib/process-identity.ts'

/** What a gateway says of itself over its control socket: `GET /status`. */
export interface ControlStatus {
  readonly identity: ProcessIdentity
  readonly instance: string
  readonly version: string
  readonly host: string
  /** The port it got, also where any free one was asked for. */
  readonly port: number
  /** ISO 8601, UTC. */
  readonly started_at: string
  readonly draining: boolean
  readonly drain_timeout_ms: number
  /** The options in force by their setting names (`max_concurrent`), with changes made since the start. */
  readonly options: Readonly<Record<string, SettingValue | readonly string[]>>
  readonly health: HealthReport
}

/** Options that change in a running gateway: the body of `POST /options`. */
export interface LiveOptions {
  readonly max_concurrent?: number
  readonly slot_cooldown_ms?: number
  readonly token_limit?: number
}

/** The gateway as its control server needs it. */
export interface ControlledGateway {
  status(): ControlStatus
  /** Begins to stop in order, as after SIGTERM. Once begun, further calls change nothing. */
  stop(): void
  /** The values are checked already. */
  setOptions(options: LiveOptions): void
}
