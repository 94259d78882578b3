import { backoffMs } from '../lib/backoff.ts'
import type { CrashStatus, GatewayCrash } from '../api/process-status.ts'
import type { Clock } from '../call/clock.ts'
import type { ControlStatus } from '../control/control-messages.ts'
import { type ProcessRecord, isCrash } from '../control/process-record.ts'
import type { GatewayEnd } from '../control/spawn-gateway.ts'
import { messageOf } from '../lib/errors.ts'
import { isAlive } from '../lib/process/process-identity.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { crashInWords } from './crash-text.ts'
import type { GatewayFinder } from './gateway-finder.ts'
import { type Poll, startPoll } from '../lib/poll.ts'
import { valuesOf } from './running-values.ts'

const checkEveryMs = 1000
const pause = { firstMs: 1000, longestMs: 30_000 } as const
/** A crash after a run of this length (ms) begins a new series of crashes. */
const soundRunMs = 60_000
/** Most failed starts in a row after a crash. */
const mostFailedStarts = 10

/** The options of {@link GatewayKeeper}. */
export interface GatewayKeeperOptions {
  readonly clock: Clock
  readonly finder: GatewayFinder
  /**
   * Starts a gateway in place of the crashed one, unless another runs by now. Resolves with false if the
   * gateway was stopped meanwhile. Rejects if the new one does not come up.
   */
  readonly startAgain: (values: GatewayValues, crash: GatewayCrash) => Promise<boolean>
  /** How a child of this process ended; null for an unknown end, or another process. Never rejects. */
  readonly endOf: (pid: number) => Promise<GatewayEnd | null>
  /** Gets a sentence or two for people. */
  readonly report: (line: string) => void
}

/** A crash without its text, which is made when it is shown. */
type CrashWithoutText = Omit<CrashStatus, 'text'>

/**
 * Restarts a crashed gateway with its options and its port. The process record says how a gateway ends; a
 * record that does not, without its process, means a crash. A gateway that no dashboard started is left to
 * its terminal or service manager.
 */
export class GatewayKeeper {
  readonly #options: GatewayKeeperOptions
  readonly #poll: Poll
  /** The gateway's process at the last check that found one. */
  #lastPid: number | null = null
  #isClosed = false
  #crash: CrashWithoutText | null = null
  #cancelStart = (): void => {}

  constructor(options: GatewayKeeperOptions) {
    const { clock } = options
    this.#options = options
    this.#poll = startPoll({
      clock,
      everyMs: checkEveryMs,
      read: () => this.#checkGateway(),
      onFault: () => {},
    })
  }

  /** The crash since which no gateway has come up. */
  get crash(): CrashWithoutText | null {
    return this.#crash
  }

  /** The gateway's process; null without one, or after a stop. */
  get knownPid(): number | null {
    return this.#options.finder.lastStatus === null ? null : this.#lastPid
  }

  /** Call it when a child of this process has ended. */
  ended(): void {
    this.#poll.refresh()
  }

  /** Call it before this dashboard stops the gateway. Cancels a start that was due, and returns whether one was. */
  expectEnd(): boolean {
    const isAboutTo = this.#crash?.state === 'waiting' || this.#crash?.state === 'starting'
    this.#forget()
    this.#lastPid = null
    return isAboutTo
  }

  #forget(): void {
    this.#cancelStart()
    this.#options.finder.forgetSeen()
    this.#crash = null
  }

  /** Starts no gateway from now on. */
  close(): void {
    this.#isClosed = true
    this.#poll.stop()
    this.#cancelStart()
  }

  async #checkGateway(): Promise<void> {
    const { finder } = this.#options
    const { control, record } = await finder.find()
    const { lastStatus } = finder
    if (typeof control === 'object') this.#runs(control)
    else if (control === 'notRunning' && lastStatus !== null && this.#crash === null) {
      const lastProcess = record ?? { ...lastStatus.identity, ends: undefined }
      if (lastProcess.ends !== 'failed' && isAlive(lastProcess)) return
      // The process of a failed gateway may still exist.
      const end = lastProcess.ends === 'failed' ? null : await this.#options.endOf(lastProcess.pid)
      // A gateway on a full disk has no record, and removed none.
      const isCrashed = record === null ? (end?.signal ?? null) !== null : isCrash(record)
      if (finder.lastStatus !== lastStatus || this.#isClosed) return
      if (isCrashed) this.#crashed(lastStatus, record, end)
      else finder.forgetSeen()
    }
  }

  #runs(status: ControlStatus): void {
    const { crash, identity } = status
    const isNew = this.#lastPid !== null && this.#lastPid !== identity.pid
    if (crash !== null && (isNew || this.#crash !== null)) {
      const unseen = this.#crash === null ? `${crashInWords(crash)} ` : ''
      this.#options.report(`${unseen}The gateway was started again (process ${identity.pid}).`)
    }
    this.#cancelStart()
    this.#crash = null
    this.#lastPid = identity.pid
  }

  #crashed(
    { crash: before, identity, started_at: startedAt, supervised }: ControlStatus,
    record: ProcessRecord | null,
    end: GatewayEnd | null,
  ): void {
    const { clock } = this.#options
    const pid = record?.pid ?? identity.pid
    const nowMs = clock.wallTime()
    const isSoon = nowMs - Date.parse(record?.started_at ?? startedAt) < soundRunMs
    const crash: GatewayCrash = {
      pid,
      at: new Date(nowMs).toISOString(),
      exit_code: end?.code ?? null,
      signal: end?.signal ?? null,
      in_a_row: isSoon && before !== null ? before.in_a_row + 1 : 1,
    }
    if (!(record?.supervised ?? supervised)) {
      this.#crash = { ...crash, state: 'left', failed_starts: 0, next_start_at: null }
      this.#options.report(
        `${crashInWords(crash)} It was started by hand, and is not started again from here.`,
      )
      return
    }
    // The first crash may be the only one: start again at once.
    const pauseMs = crash.in_a_row === 1 ? 0 : pauseBefore(crash.in_a_row - 1)
    this.#options.report(`${crashInWords(crash)} It is started again${inSeconds(pauseMs)}.`)
    this.#plan(crash, 0, pauseMs)
  }

  #plan(crash: GatewayCrash, failed: number, pauseMs: number): void {
    const { clock } = this.#options
    const next = new Date(clock.wallTime() + pauseMs).toISOString()
    this.#crash = { ...crash, state: 'waiting', failed_starts: failed, next_start_at: next }
    this.#cancelStart = clock.after(pauseMs, () => void this.#try(crash, failed), { background: true })
  }

  /** Never rejects. */
  async #try(crash: GatewayCrash, failedBefore: number): Promise<void> {
    const { finder, startAgain, report } = this.#options
    const { lastStatus } = finder
    if (lastStatus === null || this.#isClosed) return
    const starting: CrashWithoutText = {
      ...crash,
      state: 'starting',
      failed_starts: failedBefore,
      next_start_at: null,
    }
    this.#crash = starting
    try {
      const isThere = await startAgain(valuesOf(lastStatus), crash)
      if (this.#crash !== starting) return
      // Another dashboard starts the gateway, or it was stopped: the next check shows which.
      if (!isThere) this.#forget()
      // The gateway may be gone again before the next check.
      else if (finder.lastStatus !== null) this.#runs(finder.lastStatus)
    } catch (error) {
      // A gateway was stopped or started meanwhile.
      if (this.#crash !== starting || this.#isClosed) return
      const failed = failedBefore + 1
      const isLast = failed >= mostFailedStarts
      const pauseMs = pauseBefore(failed)
      const then = isLast
        ? `After ${failed} starts it is not tried again: start it on the dashboard's page.`
        : `The next start is${inSeconds(pauseMs)}.`
      report(`The gateway did not come up again. ${messageOf(error)} ${then}`)
      if (isLast) this.#crash = { ...starting, state: 'given_up', failed_starts: failed }
      else this.#plan(crash, failed, pauseMs)
    }
  }
}

/** The pause in ms after so many failures. */
function pauseBefore(failures: number): number {
  return backoffMs(pause, failures)
}

function inSeconds(ms: number): string {
  return ms === 0 ? '' : ` in ${ms / 1000} s`
}
