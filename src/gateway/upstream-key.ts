import type { RequestHead } from './request-head.ts'
import { isCrossSite, isFromThisMachine } from './trusted-request.ts'

/**
 * The gateway's own credential for the upstream (`UPSTREAM_API_KEY`). It is lent only to requests that bring
 * none and come from this very machine, so that nobody else can spend it.
 */
export class UpstreamKey {
  readonly #authorization: string | null

  constructor(key: string | null) {
    this.#authorization = key === null || key === '' ? null : `Bearer ${key}`
  }

  get isSet(): boolean {
    return this.#authorization !== null
  }

  /** The `Authorization` to add, or `null` where this request gets none. */
  authorizationFor(head: RequestHead, remoteAddress: string | undefined): string | null {
    if (this.#authorization === null || head.credential !== null) return null
    return isFromThisMachine(head, remoteAddress) && !isCrossSite(head) ? this.#authorization : null
  }
}
