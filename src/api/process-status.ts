import * as v from 'valibot'
import { HealthReport } from './health-report.ts'
import type { Infer } from '../call/infer.ts'

/**
 * - `starting`: the start was requested, and the gateway is not healthy yet.
 * - `running`: the control socket answers.
 * - `draining`: the gateway stops; calls in flight finish.
 * - `stopped`: no gateway runs, and its port is free.
 * - `unresponsive`: the process runs and does not answer.
 * - `foreign`: no gateway of this folder runs, and another program answers on its port.
 */
export const GatewayState = v.picklist([
  'starting',
  'running',
  'draining',
  'stopped',
  'unresponsive',
  'foreign',
])

export type GatewayState = Infer<typeof GatewayState>

/** A gateway that crashed: it ended without a stop. */
export const GatewayCrash = v.object({
  /** The process that ended. */
  pid: v.number(),
  /** When the end of the process was noticed: ISO 8601, UTC. */
  at: v.string(),
  /**
   * The exit code; null after a signal. Both are null unless this dashboard started the process, because only
   * a parent learns them.
   */
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  /** Crashes in a row, with this one. The count begins again after a run of a minute. */
  in_a_row: v.number(),
})

export type GatewayCrash = Infer<typeof GatewayCrash>

/**
 * - `waiting`: the dashboard starts the gateway again at `next_start_at`.
 * - `starting`: the dashboard is starting it.
 * - `started_again`: the gateway runs again.
 * - `given_up`: too many starts failed, and the dashboard has stopped trying.
 * - `left`: a person or a service manager started it and has to start it again.
 */
export const CrashState = v.picklist(['waiting', 'starting', 'started_again', 'given_up', 'left'])

export type CrashState = Infer<typeof CrashState>

/** A crash, and the dashboard's reaction. */
export const CrashStatus = v.object({
  ...GatewayCrash.entries,
  state: CrashState,
  /** Starts since the crash that did not bring the gateway up. */
  failed_starts: v.number(),
  /** ISO 8601, UTC; null unless the state is `waiting`. */
  next_start_at: v.nullable(v.string()),
  /** The crash and the reaction in sentences, without times. */
  text: v.string(),
})

export type CrashStatus = Infer<typeof CrashStatus>

/** A gateway that was replaced. */
export const PredecessorProcess = v.object({
  pid: v.number(),
  /** Calls in flight or waiting. */
  calls: v.number(),
})

export type PredecessorProcess = Infer<typeof PredecessorProcess>

/** The body of `GET /api/proxy/status`. Unknown values are null. */
export const ProcessStatus = v.object({
  /** True if a gateway process exists: `running`, `draining` or `unresponsive`. */
  running: v.boolean(),
  state: GatewayState,
  pid: v.nullable(v.number()),
  /** The running gateway's addresses; if no gateway runs, those of the next start. */
  port: v.number(),
  host: v.string(),
  upstream: v.string(),
  instance: v.nullable(v.string()),
  /** ISO 8601, UTC. */
  started_at: v.nullable(v.string()),
  uptime_s: v.nullable(v.number()),
  /** True if `GET /health` on the gateway's own port answered 200 as this very gateway. */
  health_ok: v.boolean(),
  /** The gateway's report over its control socket; null if it does not answer there. */
  health: v.nullable(HealthReport),
  pid_file: v.string(),
  log_file: v.string(),
  /** Gateways that this one replaced and that still finish calls. */
  predecessors: v.array(PredecessorProcess),
  /**
   * A sentence on anything unusual, such as how the last gateway ended, or which process has the port; null
   * without it.
   */
  message: v.nullable(v.string()),
  /** True if the upstream is the demo's simulated one. */
  simulated: v.boolean(),
  /**
   * The last crash of this folder's gateway; null without a crash, or if a person has started or restarted
   * the gateway since.
   */
  crash: v.nullable(CrashStatus),
})

export type ProcessStatus = Infer<typeof ProcessStatus>

/** The body of `POST /api/proxy/start`. */
export const StartAnswer = v.object({
  ...ProcessStatus.entries,
  already_running: v.boolean(),
})

export type StartAnswer = Infer<typeof StartAnswer>

/** The last lines of the gateway's log. */
export const LogTail = v.object({
  logs: v.array(v.string()),
  total_lines: v.number(),
  returned_lines: v.number(),
})

/** A call was cancelled. */
export const Cancelled = v.object({ cancelled: v.literal(true) })
