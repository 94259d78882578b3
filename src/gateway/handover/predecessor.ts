import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Socket, Server as SocketServer, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../../lib/errors.ts'
import type { Shape } from '../../lib/message-shape.ts'
import { listen, listenBacklog } from '../http/listen.ts'
import {
  type Handover,
  type SuccessorQuestion,
  handoverVariable,
  isHandover,
  isYours,
  hasHandover,
} from './handover.ts'

const portPatienceMs = 5000
const portPauseMs = 20

/** The gateway that started this process as its successor. */
export class Predecessor {
  readonly handover: Handover

  private constructor(handover: Handover) {
    this.handover = handover
  }

  /**
   * Finds the predecessor of this process. `null`: this process is no successor. `gone`: the predecessor has
   * ended, and its port may not be free yet. `unknown`: the predecessor's version hands over in another way.
   */
  static async find(env: NodeJS.ProcessEnv): Promise<Predecessor | 'unknown' | 'gone' | null> {
    const isSuccessor = env[handoverVariable] !== undefined
    delete env[handoverVariable]
    if (!isSuccessor) return null
    const answer = await ask({ asks: 'handover' }, hasHandover)
    if (answer === null) return 'gone'
    const { handover } = answer.message
    return isHandover(handover) ? new Predecessor(handover) : 'unknown'
  }

  /** The port that this process can only get from the predecessor; `null` for any other port. */
  portFor(host: string, port: number): number | null {
    const { handover } = this
    const isSame = port === handover.port || (port === 0 && host === handover.host)
    return isSame ? handover.port : null
  }

  /**
   * Lets a server accept connections on the predecessor's port: on the shared listener, or in place of the predecessor if the
   * address differs or the predecessor has ended. Rejects with the socket's error.
   */
  async listen(server: Server, host: string): Promise<void> {
    const isShared = host === this.handover.host
    if (!isShared && (await this.#listensBeside(server, host))) return
    const answer = await ask({ asks: isShared ? 'listener' : 'port' }, isYours)
    // The server must listen in the event-loop turn in which the socket arrived, before the socket accepts a
    // connection.
    if (answer?.handle !== undefined) server.listen(answer.handle, listenBacklog)
    else if (answer !== null) await listen(this.handover.port, host, server)
    else await listenOnceFree(this.handover.port, host, server)
  }

  /** Calls back with each connection that the predecessor passes on. */
  onConnection(accept: (connection: Socket) => void): void {
    process.on('message', (_message, handle) => {
      if (handle instanceof Socket) accept(handle)
    })
  }

  /** Ends the passing of connections. Resolves when the last one has arrived. */
  async apart(): Promise<void> {
    if (!process.connected) return
    const disconnected = once(process, 'disconnect')
    process.send?.({ asks: 'apart' } satisfies SuccessorQuestion, undefined, undefined, () => {})
    await disconnected
  }

  /**
   * Listens while the predecessor still does, so that no connection is refused. An impossible address is found
   * before the predecessor frees the port. Returns false if the predecessor's own listener is in the way. Rejects
   * with the socket's error.
   */
  async #listensBeside(server: Server, host: string): Promise<boolean> {
    const { port, host: former } = this.handover
    try {
      await listen(port, host, server)
      return true
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error
    }
    const [boundTo, addresses] = await Promise.all([addressesOf(former), addressesOf(host)])
    for (const address of addresses) {
      if (boundTo.includes(address) || covers(former, address)) continue
      const probe = await listen(port, address, new SocketServer())
      probe.close()
    }
    return false
  }
}

/** Returns the addresses of this machine that a host means. */
async function addressesOf(host: string): Promise<readonly string[]> {
  if (!isIP(host)) return [(await lookup(host)).address]
  if (host !== '0.0.0.0' && host !== '::') return [host]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, scopeid }) => family === 'IPv4' || (host === '::' && (scopeid ?? 0) === 0))
    .map(({ address }) => address)
}

/** True if a listener on a host also gets connections to an address. */
function covers(host: string, address: string): boolean {
  return host === '::' || host === address || (host === '0.0.0.0' && isIPv4(address))
}

/** Listens, and tries again for 5 s: a killed predecessor closes its channel before its port is free. Rejects with the socket's error. */
export async function listenOnceFree(port: number, host: string, server?: Server): Promise<Server> {
  for (let patienceMs = portPatienceMs; ; patienceMs -= portPauseMs) {
    try {
      return await listen(port, host, server)
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE' || patienceMs <= 0) throw error
      await delay(portPauseMs)
    }
  }
}

interface Answer<T> {
  readonly message: T
  readonly handle: SocketServer | undefined
}

/** Asks the predecessor; `null` if it has ended. Other messages are ignored. */
function ask<T>(question: SuccessorQuestion, isAnswer: Shape<T>): Promise<Answer<T> | null> {
  const { promise, resolve } = Promise.withResolvers<Answer<T> | null>()
  const onMessage = (message: unknown, handle: unknown): void => {
    if (isAnswer(message)) resolve({ message, handle: handle instanceof SocketServer ? handle : undefined })
  }
  const onGone = (): void => resolve(null)
  if (process.send === undefined || !process.connected) return Promise.resolve(null)
  process.on('message', onMessage)
  process.once('disconnect', onGone)
  process.send(question, undefined, undefined, (error) => {
    if (error !== null) onGone()
  })
  return promise.finally(() => {
    process.off('message', onMessage)
    process.off('disconnect', onGone)
  })
}
