import { Failure } from '../../call/failure.ts'
import type { PooledAttempt } from './connection-pool.ts'
import type { Upstream, UpstreamOptions, UpstreamRequest } from './upstream.ts'

/** An upstream to which no connection can even be tried. */
export class UnreachableUpstream implements Upstream {
  readonly options: UpstreamOptions
  readonly #reason: string

  constructor(reason: string, options: UpstreamOptions) {
    this.#reason = reason
    this.options = options
  }

  send(_request: UpstreamRequest, attempt: PooledAttempt): void {
    attempt.onError(new Failure('upstream_unreachable', this.#reason))
  }

  async close(): Promise<void> {}
}
