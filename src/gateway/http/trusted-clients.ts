import type { Socket } from 'node:net'
import { isCrossSite } from '../../lib/request-source.ts'
import type { SecretToken } from '../../lib/secret-token.ts'
import type { ThisMachine } from '../../lib/this-machine.ts'
import type { RequestHead } from './request-head.ts'

/** Who may see payloads and the whole report, and is lent the upstream's key. */
export class TrustedClients {
  readonly #thisMachine: ThisMachine
  readonly #adminToken: SecretToken | null

  constructor(thisMachine: ThisMachine, adminToken: SecretToken | null) {
    this.#thisMachine = thisMachine
    this.#adminToken = adminToken
  }

  get tokenIsSet(): boolean {
    return this.#adminToken !== null
  }

  /**
   * Whether a request brings the admin token, or comes from this machine and from no page of another site. It may be
   * brought as a bearer's where no credential of an upstream is expected: Prometheus sends no header of another name.
   */
  async include(head: RequestHead, socket: Socket, mayBear = false): Promise<boolean> {
    if (this.#adminToken?.matches(head.adminToken) === true) return true
    const [, borne] = (mayBear ? /^bearer +(.+)$/i.exec(head.credential ?? '') : null) ?? []
    if (this.#adminToken?.matches(borne) === true) return true
    return !isCrossSite(head) && this.#thisMachine.sent(head, socket)
  }
}
