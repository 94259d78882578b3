import type { HealthReport } from './health-report.ts'

/**
 * - `starting`: asked to start, not healthy yet.
 * - `running`: the control socket answers.
 * - `draining`: it was told to stop; calls in flight finish.
 * - `stopped`: there is none, and its port is free.
 * - `unresponsive`: the process is there and does not answer.
 * - `foreign`: there is none of ours, and something else answers on its port.
 */
export type GatewayState = 'starting' | 'running' | 'draining' | 'stopped' | 'unresponsive' | 'foreign'

/** The body of `GET /api/proxy/status`. What is not known is null. */
export interface ProcessStatus {
  /** Whether there is a gateway process: `running`, `draining` or `unresponsive`. */
  readonly running: boolean
  readonly state: GatewayState
  readonly pid: number | null
  /** Where the running gateway listens; where the next one will, while there is none. */
  readonly port: number
  readonly host: string
  readonly upstream: string
  readonly instance: string | null
  /** ISO 8601, UTC. */
  readonly started_at: string | null
  readonly uptime_s: number | null
  /** Whether `GET /health` on the gateway's own port answered 200 as this very gateway. */
  readonly health_ok: boolean
  /** What the gateway reports at its control socket; null if it does not answer there. */
  readonly health: HealthReport | null
  readonly pid_file: string
  readonly log_file: string
  /** Gateways that this one has taken over from at a restart, and that still finish calls. */
  readonly predecessors: readonly PredecessorProcess[]
  /** One sentence on what is not as one would think: who holds the port, how the last gateway ended, who still finishes calls. */
  readonly message: string | null
  /** Whether the upstream is the demo's own, and no real model answers. */
  readonly simulated: boolean
  /** The last crash of this folder's gateway; null if there was none, or a restart or a start by a person came after it. */
  readonly crash: CrashStatus | null
}

/** A gateway that ended without being told to. */
export interface GatewayCrash {
  /** The process that ended. */
  readonly pid: number
  /** When its end was seen: ISO 8601, UTC. */
  readonly at: string
  /** How it ended. Both are null in a dashboard that did not start the process: the system tells its starter alone. */
  readonly exit_code: number | null
  readonly signal: string | null
  /** Crashes in a row, this one included; a gateway that ran for a minute begins a new row. */
  readonly in_a_row: number
}

/**
 * - `waiting`: the dashboard starts the gateway again at `next_start_at`.
 * - `starting`: the dashboard is starting it.
 * - `started_again`: the gateway runs again.
 * - `given_up`: it did not come up in so many starts that the dashboard tries no more.
 * - `left`: it was started by hand or by a service manager, which start it again if anybody does.
 */
export type CrashState = 'waiting' | 'starting' | 'started_again' | 'given_up' | 'left'

/** A crash, and what the dashboard does about it. */
export interface CrashStatus extends GatewayCrash {
  readonly state: CrashState
  /** Starts since the crash that did not bring the gateway up. */
  readonly failed_starts: number
  /** ISO 8601, UTC; null unless the state is `waiting`. */
  readonly next_start_at: string | null
  /** All of that but the times, in sentences. */
  readonly text: string
}

/** A gateway that was replaced. */
export interface PredecessorProcess {
  readonly pid: number
  /** In flight, or waiting. */
  readonly calls: number
}

/** The body of `POST /api/proxy/start`. */
export interface StartAnswer extends ProcessStatus {
  readonly already_running: boolean
}
