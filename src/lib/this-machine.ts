import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type RequestSource, isLoopbackAddress, isToThisMachine } from './http/request-source.ts'
import { open } from 'node:fs/promises'
import { endianness } from 'node:os'
import { nullIfMissing } from './errors.ts'
import { lineReader } from './line-reader.ts'
import { reportFault } from './fault.ts'

/** Finds the user of a connection's other end; null if the system cannot. */
type Owners = Pick<SocketOwners, 'ownerOf'> | null

/**
 * Decides which requests come from this machine's owner, and so need no admin token: programs of this user
 * and of root. A loopback address is not enough, because a proxy or another user of the machine also has one.
 */
export class ThisMachine {
  readonly #trustsLoopback: boolean
  readonly #owners: Owners
  readonly #cache = new WeakMap<Socket, boolean>()

  /** `trustsLoopback` is `--trust-loopback`: without it, every request needs the token. */
  constructor(trustsLoopback: boolean, owners: Owners = ownersHere()) {
    this.#trustsLoopback = trustsLoopback
    this.#owners = owners
  }

  /** True if this user or root sent a request on this machine. The system is asked once per connection, after all other checks. */
  async isLocalUser(source: RequestSource, socket: Socket): Promise<boolean> {
    if (!this.#trustsLoopback || !isToThisMachine(source)) return false
    const cached = this.#cache.get(socket)
    if (cached !== undefined) return cached
    if (!isLoopbackAddress(socket.remoteAddress ?? '')) return false
    if (this.#owners === null) return true
    try {
      const isOurs = isTrusted(await this.#owners.ownerOf(socket))
      this.#cache.set(socket, isOurs)
      return isOurs
    } catch {
      // The tables could not be read, for example without a free descriptor. The next request tries again.
      return false
    }
  }
}

/** The search for owners; null except on Linux, the only system that reports the owner of a socket. */
function ownersHere(): Owners {
  return process.platform === 'linux' ? new SocketOwners() : null
}

function isTrusted(owner: number | null): boolean {
  const ownUser = process.geteuid?.()
  return owner === 0 || (owner !== null && owner === ownUser && !standsForOthers(owner))
}

/**
 * True if a user id stands for several users: a user namespace shows all users without a mapping under one
 * id, which may also be a real user's.
 */
function standsForOthers(user: number): boolean {
  const overflow = Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'))
  return user === overflow && !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))
}

/** Both ends of a connection, as the accepting process sees them; undefined once it is broken. */
type ConnectionEnds = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>

/**
 * The TCP sockets of this network namespace, each with its user (proc_pid_net(5)). An IPv4 address may also be reached
 * from an IPv6 socket, which is in the second.
 */
const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const
/**
 * Bytes of a read: half a page. The kernel fills each read with whole rows of at most one page. A second page is
 * added only if the first is full, so reads of half a page are always filled.
 */
const partBytes = 2048
/** Number of parts in the first read, which has some 200 sockets, and in each further read. */
const [firstParts, furtherParts] = [16, 512]
/** How often the tables are read, because a read may miss a socket while others close. */
const looks = 2

type PendingOwners = Map<string, PromiseWithResolvers<number | null>>

/**
 * Finds the owner of the other end of a connection within this machine. A single reading of the tables serves
 * all requests that wait.
 */
export class SocketOwners {
  #pending: PendingOwners = new Map()
  #isReading = false

  /**
   * The user id of the other end, as it is mapped in our user namespace; null where this network namespace has no such
   * socket, or it is closed. Rejects if the tables cannot be read.
   */
  ownerOf(ends: ConnectionEnds): Promise<number | null> {
    const key = keyOf(ends)
    if (key === null) return Promise.resolve(null)
    const waiting = this.#pending.get(key) ?? Promise.withResolvers<number | null>()
    this.#pending.set(key, waiting)
    if (!this.#isReading) this.#read().catch(reportFault)
    return waiting.promise
  }

  async #read(): Promise<void> {
    this.#isReading = true
    while (this.#pending.size > 0) {
      const pending = this.#pending
      this.#pending = new Map()
      try {
        for (let look = 0; look < looks; look++) for (const table of tables) await find(pending, table)
        for (const { resolve } of pending.values()) resolve(null)
      } catch (error) {
        for (const { reject } of pending.values()) reject(error)
      }
    }
    this.#isReading = false
  }
}

/** Answers the questions whose socket is in a table, and removes them from `pending`. */
async function find(pending: PendingOwners, table: string): Promise<void> {
  if (pending.size === 0) return
  // A system without IPv6 has no such table.
  await using file = await open(table).catch(nullIfMissing)
  if (file === null) return
  const read = lineReader((line) => {
    const key = keyOfRow(line)
    const waiting = pending.get(key)
    if (waiting === undefined) return
    pending.delete(key)
    waiting.resolve(ownerOfRow(line))
  })
  for (let parts = firstParts; pending.size > 0; parts = furtherParts) {
    const bytes = Buffer.allocUnsafeSlow(parts * partBytes)
    const pieces = Array.from({ length: parts }, (_, part) =>
      bytes.subarray(part * partBytes, (part + 1) * partBytes),
    )
    const { bytesRead } = await file.readv(pieces)
    if (bytesRead === 0) return
    read(bytes.toString('latin1', 0, bytesRead))
  }
}

const isLittleEndian = endianness() === 'LE'
/** `::ffff:0:0/96`, the beginning of an IPv4 address of an IPv6 socket: 32 bits each in the machine's byte order. */
const mappedPrefix = isLittleEndian ? '0000000000000000FFFF0000' : '00000000000000000000FFFF'
const loopbackV6 = `${'0'.repeat(24)}${isLittleEndian ? '01000000' : '00000001'}`

/** The addresses in the row of the other end, its own address first; null for an address that cannot be local. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: ConnectionEnds): string | null {
  const remote = hexAddress(remoteAddress)
  const local = hexAddress(localAddress)
  return remote === null || local === null
    ? null
    : `${remote}:${hexPort(remotePort)} ${local}:${hexPort(localPort)}`
}

function hexAddress(address = ''): string | null {
  if (address === '::1') return loopbackV6
  const parts = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)?.slice(1)
  if (parts === undefined) return null
  const bytes = Buffer.from(parts.map(Number))
  return (isLittleEndian ? bytes.reverse() : bytes).toString('hex').toUpperCase()
}

function hexPort(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

/** Both addresses of a row, `  12: 0100007F:9951 0100007F:2382 01 …`, as {@link keyOf} writes them. */
export function keyOfRow(row: string): string {
  const begin = row.indexOf(': ') + 2
  const end = row.indexOf(' ', row.indexOf(' ', begin) + 1)
  return row.slice(begin, end).replaceAll(mappedPrefix, '')
}

/**
 * The user of a row; null for a closed socket, which is still listed for a while, without an inode and as if
 * it were root's.
 */
export function ownerOfRow(row: string): number | null {
  const [, , , , , , , uid, , inode] = row.trim().split(/\s+/)
  if (uid === undefined || inode === undefined || inode === '0') return null
  return Number(uid)
}
