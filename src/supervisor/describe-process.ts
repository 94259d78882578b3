import type { CrashStatus, GatewayState, PredecessorProcess, ProcessStatus } from '../api/process-status.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { isCrash } from '../control/process-record.ts'
import type { FolderTraces, GatewayFinder } from './gateway-finder.ts'
import { type PortAnswer, acceptsConnections, askHealth } from './gateway-port.ts'
import { crashStatusOf } from './crash-text.ts'

/** The traces of a gateway that are visible from outside. */
export interface GatewayTraces {
  readonly folder: FolderTraces
  /** The answer of the gateway's port; `null` without a running gateway. */
  readonly port: PortAnswer | null
  /** Another program listens on the port of the next gateway. */
  readonly isPortTaken: boolean
  /** The gateway process that is starting; null without one. */
  readonly startingPid: number | null
}

/** The options of the next gateway, and the problems that are known already. */
export interface Plan extends Pick<GatewayValues, 'host' | 'port' | 'upstream' | 'pidFile'> {
  readonly logFile: string
  readonly simulated: boolean
  /** How the last gateway ended, or why the next one cannot start. */
  readonly problem: string | null
  /** The crash since which no gateway has come up. */
  readonly crash: Omit<CrashStatus, 'text'> | null
}

/** Reads all traces of a folder's gateway; without a gateway, checks the port of the next one. */
export async function traceGateway(
  finder: GatewayFinder,
  plan: Plan,
  startingPid: () => number | null,
  answerMs: number,
): Promise<GatewayTraces> {
  const readTraces = async (): Promise<GatewayTraces> => {
    const folder = await finder.find()
    const { control, recordedRuns } = folder
    if (typeof control === 'object') {
      const port = await askHealth(control.host, control.port, answerMs)
      return { folder, port, isPortTaken: false, startingPid: startingPid() }
    }
    const isNone = control === 'notRunning' && !recordedRuns && startingPid() === null
    const isPortTaken = isNone && (await acceptsConnections(plan.host, plan.port, answerMs))
    return { folder, port: null, isPortTaken, startingPid: startingPid() }
  }
  const wasStarting = startingPid() !== null
  const traces = await readTraces()
  // A gateway may have come up after the check.
  const mayHaveBegun = wasStarting && traces.startingPid === null && typeof traces.folder.control !== 'object'
  // A starting gateway has its port before its socket.
  return traces.isPortTaken || mayHaveBegun ? await readTraces() : traces
}

/** The status of a gateway's process. */
export function describeProcess(traces: GatewayTraces, plan: Plan): ProcessStatus {
  const { folder, startingPid } = traces
  const state = stateOf(traces)
  const running = state === 'running' || state === 'draining' || state === 'unresponsive'
  const control = typeof folder.control === 'object' ? folder.control : null
  const recorded = running && folder.recordedRuns ? folder.record : null
  const source = control ?? recorded
  const pidFile = control?.options['pid_file']
  return {
    running,
    state,
    pid: control?.identity.pid ?? recorded?.pid ?? startingPid,
    port: source?.port ?? plan.port,
    host: source?.host ?? plan.host,
    upstream: control?.health.upstream ?? plan.upstream,
    instance: source?.instance ?? null,
    started_at: source?.started_at ?? null,
    uptime_s: control?.health.uptime_s ?? null,
    health_ok: isHealthy(traces),
    health: control?.health ?? null,
    pid_file: typeof pidFile === 'string' ? pidFile : plan.pidFile,
    log_file: plan.logFile,
    predecessors: predecessorsOf(traces),
    message: messageOf(state, traces, plan),
    simulated: plan.simulated,
    crash: crashOf(folder.control, plan),
  }
}

function stateOf({ folder, isPortTaken, startingPid }: GatewayTraces): GatewayState {
  const { control, recordedRuns } = folder
  if (startingPid !== null) return 'starting'
  if (typeof control === 'object') return control.draining ? 'draining' : 'running'
  if (control === 'noReply' || recordedRuns) return 'unresponsive'
  return isPortTaken ? 'foreign' : 'stopped'
}

function messageOf(state: GatewayState, traces: GatewayTraces, plan: Plan): string | null {
  const { control, problem, record, recordedRuns } = traces.folder
  if (state === 'running' && typeof control === 'object' && !isHealthy(traces)) {
    return `The gateway runs, but ${control.host}:${control.port} does not answer as this gateway.`
  }
  if (state === 'running') return predecessorsInWords(predecessorsOf(traces))
  if (state === 'unresponsive') {
    if (problem !== null) return `The state of the gateway is unknown: ${problem}.`
    const name = recordedRuns && record !== null ? `The gateway (process ${record.pid})` : 'The gateway'
    return control === 'noReply'
      ? `${name} does not answer; stopping it will end it.`
      : `${name} runs, but its control socket is gone; it can only be stopped.`
  }
  if (state === 'foreign') return `Something else listens on port ${plan.port}.`
  if (state !== 'stopped') return null
  const crashText =
    record === null || !isCrash(record)
      ? null
      : `The last gateway (process ${record.pid}) ended unexpectedly.`
  return plan.problem ?? crashText
}

function crashOf(control: FolderTraces['control'], plan: Plan): CrashStatus | null {
  if (typeof control !== 'object') return plan.crash && crashStatusOf(plan.crash)
  const { crash } = control
  return crash && crashStatusOf({ ...crash, state: 'started_again', failed_starts: 0, next_start_at: null })
}

function predecessorsOf({ folder: { control } }: GatewayTraces): readonly PredecessorProcess[] {
  const predecessors = typeof control === 'object' ? control.predecessors : undefined
  return (predecessors ?? []).map(({ pid, calls }) => ({ pid, calls }))
}

function predecessorsInWords(predecessors: readonly PredecessorProcess[]): string | null {
  const calls = predecessors.reduce((sum, predecessor) => sum + predecessor.calls, 0)
  if (calls === 0) return null
  const pids = predecessors.map(({ pid }) => pid).join(', ')
  const singular = `The previous process (${pids}) is finishing`
  const subject = predecessors.length === 1 ? singular : `Previous processes (${pids}) are finishing`
  return `${subject} ${calls} ${calls === 1 ? 'call' : 'calls'}.`
}

/** True if the same gateway answers on the port and on the control socket. */
function isHealthy({ folder: { control }, port }: GatewayTraces): boolean {
  return typeof control === 'object' && port?.status === 200 && port.instance === control.instance
}
