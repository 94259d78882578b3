import { resolve } from 'node:path'
import type { Clock } from '../../call/clock.ts'
import type { RawLogSwitch } from '../../control/control-messages.ts'
import type { InheritedRawLog } from '../handover/handover.ts'
import { PayloadFeed } from '../raw-log/payload-feed.ts'
import { RawLogRoutes } from '../raw-log/raw-log-routes.ts'
import type { GatewayValues } from '../../options/gateway-options.ts'
import { RawLog } from '../../payloads/raw-log.ts'

/**
 * Longest time (ms) from a record to its sending. Records are sent to the log's thread in batches, because
 * single messages would cost most of the time.
 */
const flushAfterMs = 20
const bytesPerKb = 1024
const bytesPerMb = 1024 * 1024

export interface GatewayRawLogOptions {
  readonly values: GatewayValues
  readonly salt: Uint8Array
  /** The instance number, as in the gateway's call ids. */
  readonly idBits: number
  readonly clock: Clock
  /** The log state of the gateway that this one replaces; null without one. */
  readonly inherited: InheritedRawLog | null
  /** Called with the new state when the log was switched. */
  readonly onSwitched: (to: RawLogSwitch) => void
}

/** The raw log of a gateway, its feed and its routes. */
export class GatewayRawLog {
  readonly log: RawLog
  readonly routes: RawLogRoutes
  readonly feed: PayloadFeed
  readonly #options: GatewayRawLogOptions
  #isConfigured: boolean

  constructor(options: GatewayRawLogOptions) {
    const { values, salt, idBits, clock, inherited } = options
    this.#options = options
    this.#isConfigured = values.rawLog
    const log = new RawLog({
      filePath: resolve(values.rawLogFile),
      capture: values.rawLogCapture,
      maxBodyBytes: values.rawLogMaxBodyKb * bytesPerKb,
      totalBytes: values.rawLogMaxMb * bytesPerMb,
      salt,
      idBits,
      clock,
      flushAfterMs,
    })
    this.log = log
    if (inherited !== null && inherited.asked === this.#isConfigured) this.follow(inherited)
    else if (this.#isConfigured) log.toggle(true, null)
    this.feed = new PayloadFeed(log, clock)
    this.routes = new RawLogRoutes(log, (enabled, forMs) => this.#toggle(enabled, forMs), this.feed)
  }

  /** The state, for the successor. */
  handover(): InheritedRawLog {
    const { enabled, enabledUntilMs: untilMs } = this.log
    return { asked: this.#isConfigured, enabled, untilMs }
  }

  setCapture(rule: string): void {
    this.log.setCapture(rule)
  }

  /** Switches the log by a setting, until further notice. */
  set(enabled: boolean): void {
    this.#isConfigured = enabled
    this.#toggle(enabled, null)
  }

  /** Adopts the state of another gateway. */
  follow({ enabled, untilMs }: RawLogSwitch): void {
    const forMs = untilMs === null ? null : untilMs - this.#options.clock.wallTime()
    const isOver = forMs !== null && forMs <= 0
    this.log.toggle(enabled && !isOver, enabled && !isOver ? forMs : null)
  }

  #toggle(enabled: boolean, forMs: number | null): void {
    this.log.toggle(enabled, forMs)
    const { enabled: is, enabledUntilMs: untilMs } = this.log
    this.#options.onSwitched({ enabled: is, untilMs })
  }
}
