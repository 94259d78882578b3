import { type Clock, within } from '../call/clock.ts'
import type { Stopping } from '../control/control-client.ts'
import { type ProcessIdentity, isAlive } from '../lib/process-identity.ts'
import { type GatewayFinder, isCertain } from './gateway-finder.ts'
import { ProcessError } from './gateway-process.ts'
import type { SpawnedGateway } from '../control/spawn-gateway.ts'
import { messageOf } from '../lib/caught.ts'
import type { SupervisorLimits } from './supervisor-limits.ts'

const killLimitMs = 5000
const lookEveryMs = 20

export interface GatewayStopperOptions {
  readonly finder: GatewayFinder
  readonly clock: Clock
  readonly limits: SupervisorLimits
  /** The running gateway, where it is a child of ours. */
  readonly child: () => SpawnedGateway | null
}

/**
 * Stops gateways: by asking over the control socket; by a signal only those that do not answer, and only where
 * it is certain which process that is. No PID file is ever believed.
 */
export class GatewayStopper {
  readonly #options: GatewayStopperOptions

  constructor(options: GatewayStopperOptions) {
    this.#options = options
  }

  /**
   * Resolves when the gateway's process is gone; `drainTimeoutMs` is for one that cannot tell its own. Rejects
   * with {@link ProcessError}.
   */
  async stop(drainTimeoutMs: number): Promise<void> {
    const { finder, limits } = this.#options
    const [{ control, recordedRuns, record }, stopping] = await Promise.all([
      finder.find(limits.acceptStopMs),
      finder.client.stop(limits.acceptStopMs).catch((error: unknown) => {
        throw new ProcessError('stop_failed', messageOf(error))
      }),
    ])
    if (stopping === 'absent') {
      if (record !== null && recordedRuns) await this.#terminate(record, drainTimeoutMs)
      else if (typeof control !== 'object') {
        throw new ProcessError('not_running', 'No gateway runs that could be stopped.')
      }
      return
    }
    if (stopping === 'silent') {
      await this.#kill(finder.silentProcess(), 'does not answer')
      return
    }
    const drain = typeof control === 'object' ? control.drain_timeout_ms : drainTimeoutMs
    if (await this.#endsWithin(drain + limits.afterDrainMs, stopping)) return
    const identity = typeof control === 'object' ? control.identity : finder.silentProcess()
    await this.#kill(identity, 'did not end in time', stopping)
  }

  async #endsWithin(limitMs: number, { ended }: Stopping): Promise<boolean> {
    return (await within(this.#options.clock, limitMs, ended)) !== 'late'
  }

  /** A gateway whose socket was taken away can only be told by a signal. */
  async #terminate(identity: ProcessIdentity, drainTimeoutMs: number): Promise<void> {
    if (
      signal(identity, 'SIGTERM') &&
      (await this.#isGone(identity, drainTimeoutMs + this.#options.limits.afterDrainMs))
    )
      return
    await this.#kill(identity, 'did not end in time')
  }

  /**
   * `stopping`, where its connection is still open, is proof enough of who the process is on systems that do not tell when
   * a process started.
   */
  async #kill(identity: ProcessIdentity | null, why: string, stopping?: Stopping): Promise<void> {
    const child = this.#options.child()
    const name = identity === null ? 'The gateway' : `The gateway (process ${identity.pid})`
    if (child !== null && (identity === null || child.pid === identity.pid)) {
      child.kill()
      if ((await within(this.#options.clock, killLimitMs, child.ended)) !== 'late') return
    } else if (identity !== null && (isCertain(identity) || stopping !== undefined)) {
      if (!signal(identity, 'SIGKILL') || (await this.#isGone(identity, killLimitMs))) return
    } else {
      const hint = identity === null ? '' : `: kill -9 ${identity.pid}`
      throw new ProcessError(
        'stop_failed',
        `${name} ${why}, and it is not certain enough which process it is to kill it. End it by hand${hint}.`,
      )
    }
    throw new ProcessError('stop_failed', `${name} ${why}, and is still there although it was killed.`)
  }

  async #isGone(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
    const { clock } = this.#options
    const deadline = clock.now() + limitMs
    while (isAlive(identity)) {
      if (clock.now() > deadline) return false
      await clock.delay(lookEveryMs)
    }
    return true
  }
}

/** False where the very process is gone already. */
function signal(identity: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, name)
  } catch {
    return isAlive(identity)
  }
}
