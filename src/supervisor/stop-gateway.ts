import { type Clock, withTimeout } from '../call/clock.ts'
import type { Stopping } from '../control/control-client.ts'
import type { SpawnedGateway } from '../control/spawn-gateway.ts'
import { messageOf } from '../lib/errors.ts'
import { type ProcessIdentity, isAlive } from '../lib/process/process-identity.ts'
import { type GatewayFinder, isCertain } from './gateway-finder.ts'
import { ProcessError } from './process-error.ts'

const killLimitMs = 5000
const checkEveryMs = 20

/** The gateway to stop. */
export interface StopOptions {
  readonly finder: GatewayFinder
  readonly clock: Clock
  /** The running gateway, if it is a child of this process. */
  readonly child: SpawnedGateway | null
  /** The drain time-out of a gateway that does not answer. */
  readonly drainTimeoutMs: number
}

/**
 * Stops the gateway of a data folder over the control socket. A gateway that does not answer gets a signal, but only if its
 * process is certain; a PID file never counts. Resolves when the process is gone. Rejects with {@link ProcessError}.
 */
export async function stopGateway(options: StopOptions): Promise<void> {
  const { finder, clock, child, drainTimeoutMs } = options
  const { limits } = finder
  const [{ control, recordedRuns, record }, stopping] = await Promise.all([
    finder.find(limits.acceptStopMs),
    finder.client.stop(limits.acceptStopMs).catch((error: unknown) => {
      throw new ProcessError('stop_failed', messageOf(error))
    }),
  ])
  const status = typeof control === 'object' ? control : null
  const limitMs = (status?.drain_timeout_ms ?? drainTimeoutMs) + limits.afterDrainMs
  if (stopping === 'noReply') return kill(options, finder.silentProcess(), 'does not answer')
  if (stopping !== 'notRunning') {
    if ((await withTimeout(clock, limitMs, stopping.ended)) !== 'late') return
    return kill(options, status?.identity ?? finder.silentProcess(), 'did not end in time', stopping)
  }
  // A gateway whose socket or folder was removed only gets a signal.
  const unreachable = recordedRuns ? record : finder.silentProcess()
  if (unreachable !== null && record?.ends !== 'failed') {
    if (signal(unreachable, 'SIGTERM') && (await isGone(clock, unreachable, limitMs))) return
    await kill(options, unreachable, 'did not end in time')
  } else if (child !== null && record === null) {
    child.stop()
    if ((await withTimeout(clock, limitMs, child.ended)) === 'late')
      await kill(options, null, 'did not end in time')
  } else if (status === null) {
    throw new ProcessError('not_running', 'No gateway is running.')
  }
}

/**
 * Kills the gateway. An open `stopping` connection proves which process it is, on systems that do not show when a process
 * started.
 */
async function kill(
  { clock, child, finder }: StopOptions,
  identity: ProcessIdentity | null,
  why: string,
  stopping?: Stopping,
): Promise<void> {
  const name = identity === null ? 'The gateway' : `The gateway (process ${identity.pid})`
  // Without the record, the end is no crash.
  const { pid = child?.pid ?? null } = identity ?? {}
  if (child !== null && (identity === null || child.pid === identity.pid)) {
    finder.forget(pid)
    child.kill()
    if ((await withTimeout(clock, killLimitMs, child.ended)) !== 'late') return
  } else if (identity !== null && (isCertain(identity) || stopping !== undefined)) {
    finder.forget(pid)
    if (!signal(identity, 'SIGKILL') || (await isGone(clock, identity, killLimitMs))) return
  } else {
    const hint = identity === null ? '' : `: kill -9 ${identity.pid}`
    throw new ProcessError(
      'stop_failed',
      `${name} ${why}, and it is not certain enough which process it is to kill it. End it by hand${hint}.`,
    )
  }
  throw new ProcessError('stop_failed', `${name} ${why}, and is still there although it was killed.`)
}

async function isGone(clock: Clock, identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  const deadline = clock.now() + limitMs
  while (isAlive(identity)) {
    if (clock.now() > deadline) return false
    await clock.delay(checkEveryMs)
  }
  return true
}

/** Sends a signal; false if the process is gone. */
function signal(identity: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, name)
  } catch {
    return isAlive(identity)
  }
}
