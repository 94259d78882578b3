import { CodedError } from '../lib/errors.ts'

/**
 * - `not_running`: there is nothing to stop.
 * - `start_failed`: it ended, or did not become healthy in time; `log` holds its last words.
 * - `port_in_use`: something else listens on its port.
 * - `stop_failed`: it did not end, and it is not sure enough that it is ours to be killed.
 * - `not_applied`: what was set is kept, but the running gateway did not take it over.
 * - `gateway_silent`: it does not answer.
 */
type ProcessErrorCode =
  | 'not_running'
  | 'start_failed'
  | 'port_in_use'
  | 'stop_failed'
  | 'not_applied'
  | 'gateway_silent'

/** Why the gateway could not be started or stopped, in words for the person who asked. */
export class ProcessError extends CodedError<ProcessErrorCode> {}
