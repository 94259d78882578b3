import { Failure } from '../../call/failure.ts'
import type { Transport, TransportAttempt, TransportOptions, TransportRequest } from './transport.ts'

/**
 * The transport of an upstream to which no connection can be tried, for example because the variable of its
 * proxy is wrong.
 */
export class UnreachableTransport implements Transport {
  readonly options: TransportOptions
  readonly answeringProxy = null
  readonly #reason: string

  constructor(reason: string, options: TransportOptions) {
    this.#reason = reason
    this.options = options
  }

  send(_request: TransportRequest, attempt: TransportAttempt): void {
    attempt.onError(new Failure('upstream_unreachable', this.#reason))
  }

  async close(): Promise<void> {}
}
