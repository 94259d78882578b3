import type { Socket } from 'node:net'
import type { RequestHead } from '../http/request-head.ts'
import type { TrustedClients } from '../http/trusted-clients.ts'

/**
 * The gateway's own credential for the upstream (`UPSTREAM_API_KEY`). It is lent only to trusted clients that bring
 * none, so that nobody else can spend it.
 */
export class UpstreamKey {
  readonly #header: readonly [name: string, value: string] | null
  readonly #clients: TrustedClients

  /** `host` is the upstream's: Anthropic takes API keys in a header of its own. */
  constructor(key: string | null, host: string, clients: TrustedClients) {
    this.#clients = clients
    if (key === null || key === '') this.#header = null
    else if (host === 'api.anthropic.com') this.#header = ['x-api-key', key]
    else this.#header = ['Authorization', `Bearer ${key}`]
  }

  get isSet(): boolean {
    return this.#header !== null
  }

  /** Whether there is a key, and the request brings none. */
  isWantedBy(head: RequestHead): boolean {
    return this.#header !== null && head.credential === null
  }

  /** Adds it to the head of a request that wants it, if its client is trusted. */
  async lendTo(head: RequestHead, socket: Socket): Promise<void> {
    if (this.#header !== null && (await this.#clients.include(head, socket)))
      head.endToEnd.push(...this.#header)
  }
}
