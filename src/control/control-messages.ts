import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HealthReport } from '../api/health-report.ts'
import type { LiveCalls } from '../api/live-calls.ts'
import type { MinuteUsage } from '../call/call-sink.ts'
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
  /** Gateways that this one has taken over from, and that still finish calls; earlier versions tell of none. */
  readonly predecessors?: readonly PredecessorGateway[] | undefined
}

/** A gateway that was replaced and finishes its calls. */
export interface PredecessorGateway {
  readonly pid: number
  readonly instance: string
  /** In flight, or waiting. */
  readonly calls: number
}

/** Options that change in a running gateway: the body of `POST /options`. */
export interface LiveOptions {
  readonly max_concurrent?: number
  readonly slot_cooldown_ms?: number
  readonly token_limit?: number
  /** Whether payloads are kept, until further notice. */
  readonly raw_log?: boolean
}

/** With what a gateway is to start its successor: the body of `POST /hand-over`. */
export interface HandOverOrder {
  /** The program and its first arguments. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  /** The whole environment: nothing of the present gateway's own is passed on. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** What the successor prints is appended to this file. */
  readonly log_file: string
  /** How long it may take to be ready. */
  readonly limit_ms: number
}

/** How a hand-over went. Where there is no successor, the gateway serves on as before. */
export type HandOverAnswer =
  | { readonly successor: { readonly pid: number } }
  | {
      readonly failed: string
      /** A {@link HandOverFailure}; that of another version may be a further one. */
      readonly code: string
    }

/**
 * - `busy`: it is stopping, or hands over already.
 * - `port_in_use`: the successor could not have its new port.
 * - `not_up`: the successor ended, or was not ready in time.
 */
export type HandOverFailure = 'busy' | 'port_in_use' | 'not_up'

/** A line of the body of `POST /draining`, by which a gateway that was replaced tells its successor how it is. */
export interface DrainReport {
  readonly instance: string
  readonly identity: ProcessIdentity
  readonly slots: {
    readonly seq: number
    readonly slots: number
    readonly active: number
    readonly wanted: number
  }
  /** Tokens of calls that ended since the last report, by the minute of their end. */
  readonly used: readonly MinuteUsage[]
  /** Tokens that its calls in flight may still use; absent from an older version, as is the next. */
  readonly reserved?: number | undefined
  /** Tokens that its own budget counts as used. */
  readonly counted?: number | undefined
  /** Those that have reported to this one so far, and will report to its successor. */
  readonly predecessors: readonly PredecessorClaim[]
}

/** What a gateway that finishes its calls may be using until it reports itself. */
export interface PredecessorClaim {
  readonly instance: string
  readonly identity: ProcessIdentity
  readonly slots: number
  /** Tokens that its calls in flight may still use. */
  readonly reserved?: number | undefined
}

/** A line of the answer to `POST /draining`. */
export type DrainOrder =
  | { readonly grant: { readonly seq: number; readonly slots: number } }
  /** The whole gateway stops; what is in flight has so long. */
  | { readonly stopWithinMs: number }
  /** Tokens that others may still use, or have used unknown to this one; an older version ignores it. */
  | { readonly taken: number }
  /** Another gateway is the successor now, and is to be reported to. */
  | { readonly moved: true }
  /** The payload log was switched. */
  | { readonly rawLog: RawLogSwitch }

/** How the payload log is to go on. */
export interface RawLogSwitch {
  readonly enabled: boolean
  /** When it switches itself off, in ms since the Unix epoch; null for until further notice. */
  readonly untilMs: number | null
}

/** One gateway that finishes its calls, as its successor hears it. */
export interface DrainListener {
  report(report: DrainReport): void
  /** It has ended, or reports to another. */
  ended(): void
}

/** The gateway as its control server needs it. */
export interface ControlledGateway {
  status(): ControlStatus
  /** The calls that are not over yet. */
  live(): LiveCalls
  /** Begins to stop in order, as after SIGTERM. Once begun, further calls change nothing. */
  stop(): void
  /** The values are checked already. */
  setOptions(options: LiveOptions): void
  /** Starts a successor, and once that is ready leaves everything new to it. Never rejects. */
  handOver(order: HandOverOrder): Promise<HandOverAnswer>
  /** A gateway that this one has taken over from reports; `tell` gives it orders. */
  draining(tell: (order: DrainOrder) => void): DrainListener
  /** Answers what is asked under `/raw-log/`, as under `/v1/raw-log/` over HTTP. Never throws. */
  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void
}
