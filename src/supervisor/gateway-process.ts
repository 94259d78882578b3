import type { LiveCalls } from '../api/live-calls.ts'
import type { ProcessStatus, StartAnswer } from '../api/process-status.ts'
import type { ProxyConfig } from '../api/proxy-config.ts'
import type { Settings } from '../options/gateway-settings.ts'
import { CodedError } from './coded-error.ts'

/**
 * The one gateway of a data folder, whoever started it. Operations come one after the other, in the order in
 * which they were asked for; asking twice for the same changes nothing the second time.
 *
 * Whatever takes settings may throw `SettingError`, and nothing is then changed.
 */
export interface GatewayProcess {
  status(): Promise<ProcessStatus>
  /** The calls that are not over yet; null if no gateway answers. */
  live(): Promise<LiveCalls | null>
  /** Resolves when it is healthy. Settings are kept once it is. Rejects with {@link ProcessError}. */
  start(settings?: Settings): Promise<StartAnswer>
  /** Lets the calls in flight finish, for as long as the gateway's drain time-out. Rejects with {@link ProcessError}. */
  stop(): Promise<ProcessStatus>
  /**
   * Resolves when the new one is healthy; the old one finishes its calls beside it. One that was not running is
   * started. If the new one does not come up, the one that worked goes on, or is brought back, and this rejects with
   * {@link ProcessError}.
   */
  restart(settings?: Settings): Promise<ProcessStatus>
  config(): Promise<ProxyConfig>
  /** Keeps settings for the next start; what a running gateway can change is changed at once. */
  configure(settings: Settings): Promise<ProxyConfig>
}

/**
 * - `not_running`: there is nothing to stop.
 * - `start_failed`: it ended, or did not become healthy in time; `log` holds its last words.
 * - `port_in_use`: something else listens on its port.
 * - `stop_failed`: it did not end, and it is not sure enough that it is ours to be killed.
 * - `not_applied`: what was set is kept, but the running gateway did not take it over.
 */
type ProcessErrorCode = 'not_running' | 'start_failed' | 'port_in_use' | 'stop_failed' | 'not_applied'

/** Why the gateway could not be started or stopped, in words for the person who asked. */
export class ProcessError extends CodedError<ProcessErrorCode> {
  readonly log: readonly string[]

  constructor(code: ProcessErrorCode, message: string, log: readonly string[] = []) {
    super(code, message)
    this.log = log
  }
}
