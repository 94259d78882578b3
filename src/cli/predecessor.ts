import type { Server } from 'node:http'
import type { Server as SocketServer } from 'node:net'
import { listen, listenBacklog } from '../gateway/listen.ts'
import {
  type Legacy,
  type SuccessorAnswer,
  type SuccessorQuestion,
  handOverVariable,
} from './handing-over.ts'

/** The gateway that has started this process to be its successor. */
export class Predecessor {
  readonly legacy: Legacy

  private constructor(legacy: Legacy) {
    this.legacy = legacy
  }

  /** `null` where nobody hands over to this process, or who wanted to has gone. */
  static async meet(env: NodeJS.ProcessEnv): Promise<Predecessor | null> {
    const isSuccessor = env[handOverVariable] !== undefined
    delete env[handOverVariable]
    if (!isSuccessor) return null
    const answer = await ask({ asks: 'legacy' })
    return answer !== null && 'legacy' in answer.message ? new Predecessor(answer.message.legacy) : null
  }

  /** The port on which this process can only listen once the predecessor lets it; `null` where it needs no leave. */
  portFor(host: string, port: number): number | null {
    const { legacy } = this
    const isSame = port === legacy.port || (port === 0 && host === legacy.host)
    return isSame ? legacy.port : null
  }

  /**
   * Lets a server accept connections on the predecessor's port: beside it, or in its place where the address is
   * another or the predecessor has gone. Rejects with the socket's error.
   */
  async letListen(server: Server, host: string): Promise<void> {
    const isShared = host === this.legacy.host
    const answer = await ask({ asks: isShared ? 'listener' : 'port' })
    // This still runs in the turn in which the socket came: it has not been asked for a connection yet.
    if (answer?.handle !== undefined) server.listen(answer.handle, listenBacklog)
    else await listen(this.legacy.port, host, server)
  }
}

interface Answer {
  readonly message: SuccessorAnswer
  readonly handle: SocketServer | undefined
}

/** `null` where the predecessor has gone. */
function ask(question: SuccessorQuestion): Promise<Answer | null> {
  const { promise, resolve } = Promise.withResolvers<Answer | null>()
  const onMessage = (message: unknown, handle: unknown): void => {
    // Nobody but the predecessor has the other end.
    resolve({ message: message as SuccessorAnswer, handle: handle as SocketServer | undefined })
  }
  const onGone = (): void => resolve(null)
  if (process.send === undefined || !process.connected) return Promise.resolve(null)
  process.once('message', onMessage)
  process.once('disconnect', onGone)
  process.send(question, undefined, undefined, (error) => {
    if (error !== null) onGone()
  })
  return promise.finally(() => {
    process.off('message', onMessage)
    process.off('disconnect', onGone)
  })
}
