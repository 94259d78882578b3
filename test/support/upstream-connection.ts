import type { Socket } from 'node:net'
import { playReply } from './play-reply.ts'
import { type Reply, write } from './reply-step.ts'
import { RequestReader, type RequestHead } from './request-reader.ts'
import { responseHead } from './response-bytes.ts'
import { type ConnectionEnd, type ReplyEnd, type SeenConnection, SeenRequest } from './seen-request.ts'

/** What a connection tells and asks its upstream. */
export interface ConnectionHost {
  /** A new request's number. */
  nextIndex(): number
  /** A head arrived; the answer says what the request will get. */
  requested(request: SeenRequest): Reply
  replied(request: SeenRequest, end: ReplyEnd): void
  /** Anything that a waiting test may look at has changed. */
  changed(): void
  /** A client sent bytes that are no request. */
  broken(reason: string): void
}

/** The upstream's side of one TCP connection: reads requests, answers them in order, notes how it ended. */
export class UpstreamConnection implements SeenConnection {
  readonly index: number
  readonly openedAtMs: number = performance.now()
  readonly requests: SeenRequest[] = []
  readonly closed: Promise<ConnectionEnd>
  readonly #socket: Socket
  readonly #host: ConnectionHost
  readonly #gone = new AbortController()
  readonly #closed = Promise.withResolvers<ConnectionEnd>()
  #end: ConnectionEnd | undefined
  #current: SeenRequest | undefined
  #replies: Promise<void> = Promise.resolve()
  #unanswered = 0

  constructor(index: number, socket: Socket, host: ConnectionHost) {
    this.index = index
    this.closed = this.#closed.promise
    this.#socket = socket
    this.#host = host
    socket.setNoDelay(true)
    const reader = new RequestReader({
      head: (head) => this.#onHead(head),
      body: (bytes) => this.#current?.addBody(bytes, performance.now()),
      end: () => this.#current?.endBody(performance.now()),
      broken: (reason) => this.#onBroken(reason),
    })
    socket.on('data', (bytes: Buffer) => {
      reader.push(bytes)
      host.changed()
    })
    // A client that has ended its side has left; half-open requests are not simulated.
    socket.on('end', () => this.#leave('client', 'fin'))
    socket.on('error', () => this.#leave('client', 'reset'))
    socket.on('close', () => this.#leave('upstream', 'fin'))
  }

  get end(): ConnectionEnd | undefined {
    return this.#end
  }

  /** Open, and with no request that still waits for the end of its answer. */
  get idle(): boolean {
    return this.#end === undefined && this.#unanswered === 0
  }

  /** Ends the connection from the upstream's side. */
  close(how: ConnectionEnd['how']): void {
    if (how === 'reset') this.#socket.resetAndDestroy()
    else this.#socket.end()
    this.#leave('upstream', how)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #onHead(head: RequestHead): void {
    const request = new SeenRequest(this.#host.nextIndex(), this, head, performance.now())
    this.requests.push(request)
    this.#current = request
    this.#unanswered += 1
    const reply = this.#host.requested(request)
    this.#replies = this.#replies.then(() => this.#answer(request, reply))
  }

  async #answer(request: SeenRequest, reply: Reply): Promise<void> {
    const left = new Promise<void>((resolve) => {
      this.#gone.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    if (reply.after !== 'head' && this.#end === undefined) await Promise.race([request.bodyEnd, left])
    const end = await playReply(this.#socket, reply.steps, this.#gone.signal)
    if (end === 'cut') this.#leave('upstream', 'fin')
    if (end === 'reset') this.#leave('upstream', 'reset')
    if (end === 'complete' && asksToClose(request)) this.close('fin')
    this.#unanswered -= 1
    request.endReply(end, performance.now())
    this.#host.replied(request, end)
  }

  #onBroken(reason: string): void {
    this.#host.broken(reason)
    const step = write(
      responseHead(400, [
        ['Connection', 'close'],
        ['Content-Length', '0'],
      ]),
    )
    void playReply(this.#socket, [step, { do: 'cut' }], this.#gone.signal)
  }

  #leave(by: ConnectionEnd['by'], how: ConnectionEnd['how']): void {
    if (this.#end !== undefined) return
    this.#end = { by, how, atMs: performance.now() }
    if (by === 'client') this.#socket.destroy()
    this.#gone.abort()
    this.#closed.resolve(this.#end)
    this.#host.changed()
  }
}

function asksToClose(request: SeenRequest): boolean {
  const connection = request.header('connection')?.toLowerCase()
  return request.httpVersion === '1.0' ? connection !== 'keep-alive' : connection === 'close'
}
