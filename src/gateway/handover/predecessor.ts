import type { Server } from 'node:http'
import { Server as SocketServer } from 'node:net'
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
  tellsHandover,
} from './handover.ts'

const portPatienceMs = 5000
const portPauseMs = 20

/** The gateway that has started this process to be its successor. */
export class Predecessor {
  readonly handover: Handover

  private constructor(handover: Handover) {
    this.handover = handover
  }

  /**
   * `null` if nobody hands over to this process; `gone` if who wanted to has gone, whose port may not be free yet;
   * `unknown` if it is of a version that hands over in another way.
   */
  static async find(env: NodeJS.ProcessEnv): Promise<Predecessor | 'unknown' | 'gone' | null> {
    const isSuccessor = env[handoverVariable] !== undefined
    delete env[handoverVariable]
    if (!isSuccessor) return null
    const answer = await ask({ asks: 'handover' }, tellsHandover)
    if (answer === null) return 'gone'
    const { handover } = answer.message
    return isHandover(handover) ? new Predecessor(handover) : 'unknown'
  }

  /** The port on which this process can only listen once the predecessor lets it; `null` if it needs no leave. */
  portFor(host: string, port: number): number | null {
    const { handover } = this
    const isSame = port === handover.port || (port === 0 && host === handover.host)
    return isSame ? handover.port : null
  }

  /**
   * Lets a server accept connections on the predecessor's port: beside it, or in its place if the address is
   * another or the predecessor has gone. Rejects with the socket's error.
   */
  async listen(server: Server, host: string): Promise<void> {
    const isShared = host === this.handover.host
    const answer = await ask({ asks: isShared ? 'listener' : 'port' }, isYours)
    // This still runs in the turn in which the socket came: it has not been asked for a connection yet.
    if (answer?.handle !== undefined) server.listen(answer.handle, listenBacklog)
    else await listenOnceFree(this.handover.port, host, server)
  }
}

/** A predecessor that was killed closes its channel to us before its port is free. Rejects with the socket's error. */
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

/** `null` if the predecessor has gone. What is no answer to the question is ignored. */
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
