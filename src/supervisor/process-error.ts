import { CodedError } from '../lib/errors.ts'

/**
 * - `not_running`: there is nothing to stop.
 * - `start_failed`: the gateway ended, or did not become healthy in time; `log` has its last lines.
 * - `port_in_use`: something else listens on its port.
 * - `stop_failed`: the gateway did not end, and it could not be identified well enough to be killed.
 * - `not_applied`: the settings are saved, but the running gateway did not apply them.
 * - `gateway_silent`: the gateway does not answer.
 */
type ProcessErrorCode =
  | 'not_running'
  | 'start_failed'
  | 'port_in_use'
  | 'stop_failed'
  | 'not_applied'
  | 'gateway_silent'

/** Why the gateway could not be started or stopped, with a message for people. */
export class ProcessError extends CodedError<ProcessErrorCode> {}
