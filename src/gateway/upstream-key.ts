import { isCrossSite, isFromThisMachine } from '../lib/request-source.ts'
import type { SecretToken } from '../lib/secret-token.ts'
import type { RequestHead } from './request-head.ts'

/**
 * The gateway's own credential for the upstream (`UPSTREAM_API_KEY`). It is lent only to requests that bring
 * none and either come from this very machine or carry the admin token, so that nobody else can spend it.
 */
export class UpstreamKey {
  readonly #authorization: string | null
  readonly #adminToken: SecretToken | null

  constructor(key: string | null, adminToken: SecretToken | null) {
    this.#adminToken = adminToken
    this.#authorization = key === null || key === '' ? null : `Bearer ${key}`
  }

  get isSet(): boolean {
    return this.#authorization !== null
  }

  /** The `Authorization` to add, or `null` where this request gets none. */
  authorizationFor(head: RequestHead, remoteAddress: string | undefined): string | null {
    if (this.#authorization === null || head.credential !== null) return null
    const isTrusted =
      (isFromThisMachine(head, remoteAddress) && !isCrossSite(head)) ||
      (this.#adminToken !== null && this.#adminToken.matches(head.adminToken))
    return isTrusted ? this.#authorization : null
  }
}
