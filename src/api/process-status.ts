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
