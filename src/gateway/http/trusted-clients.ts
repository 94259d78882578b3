import type { Socket } from 'node:net'
import { isCrossSite } from '../../lib/http/request-source.ts'
import type { Clock } from '../../call/clock.ts'
import { GuardedToken } from '../../lib/http/guarded-token.ts'
import type { ThisMachine } from '../../lib/this-machine.ts'
import type { RequestHead } from './request-head.ts'

/** Decides which clients may see payloads and the whole health report, and may use the gateway's keys. */
export class TrustedClients {
  readonly #thisMachine: ThisMachine
  readonly #adminToken: GuardedToken | null

  constructor(thisMachine: ThisMachine, adminToken: string | null, clock: Pick<Clock, 'now'>) {
    this.#thisMachine = thisMachine
    this.#adminToken = adminToken === null ? null : new GuardedToken(adminToken, () => clock.now())
  }

  get tokenIsSet(): boolean {
    return this.#adminToken !== null
  }

  /**
   * True if a request has the admin token, or comes from this machine and not from a page of another site.
   * With `mayBear` the token may be a bearer token, for routes without an upstream's credential, because
   * Prometheus sends no other header.
   */
  async include(head: RequestHead, socket: Socket, mayBear = false): Promise<boolean> {
    const [, borne] = (mayBear ? /^bearer +(.+)$/i.exec(head.credential ?? '') : null) ?? []
    const guess = head.adminToken ?? borne
    if (guess !== undefined && this.#adminToken !== null) {
      const source = { address: socket.remoteAddress, forwardedFor: head.forwardedFor }
      if (this.#adminToken.matches(guess, source)) return true
    }
    return !isCrossSite(head) && this.#thisMachine.isLocalUser(head, socket)
  }
}
