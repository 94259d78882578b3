import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type RequestSource, isLoopbackAddress, isToThisMachine } from './request-source.ts'
import { SocketOwners } from './socket-owners.ts'

/** Says whose the other end of a connection is; null where the system cannot. */
type Owners = Pick<SocketOwners, 'ownerOf'> | null

/**
 * The rule of who is this machine, and so may see and do what others need the admin token for: programs of our own user
 * and of root. A loopback address alone says little, because a proxy or another user of the machine has one too.
 */
export class ThisMachine {
  readonly #trustsLoopback: boolean
  readonly #owners: Owners
  readonly #known = new WeakMap<Socket, boolean>()

  /** `trustsLoopback` is `--trust-loopback`: without it nobody is. */
  constructor(trustsLoopback: boolean, owners: Owners = ownersHere()) {
    this.#trustsLoopback = trustsLoopback
    this.#owners = owners
  }

  /** Whether this machine sent a request. The system is asked once a connection, and only if nothing else speaks against it. */
  async sent(source: RequestSource, socket: Socket): Promise<boolean> {
    if (!this.#trustsLoopback || !isToThisMachine(source)) return false
    const known = this.#known.get(socket)
    if (known !== undefined) return known
    if (!isLoopbackAddress(socket.remoteAddress ?? '')) return false
    if (this.#owners === null) return true
    try {
      const isOurs = isTrusted(await this.#owners.ownerOf(socket))
      this.#known.set(socket, isOurs)
      return isOurs
    } catch {
      // Too few descriptors, say: the next request asks again.
      return false
    }
  }
}

/** Linux alone tells whose a socket is. */
function ownersHere(): Owners {
  return process.platform === 'linux' ? new SocketOwners() : null
}

function isTrusted(owner: number | null): boolean {
  const ownUser = process.geteuid?.()
  return owner === 0 || (owner !== null && owner === ownUser && !standsForOthers(owner))
}

/** Within a user namespace, all users that have no number there are shown under one, which may also be a user's own. */
function standsForOthers(user: number): boolean {
  const overflow = Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'))
  return user === overflow && !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))
}
