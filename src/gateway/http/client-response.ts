import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { Failure } from '../../call/failure.ts'
import { noBytes } from '../../lib/byte-gather.ts'
import { closeIfUnread, writeErrorAnswer } from './own-answers.ts'
import type { PayloadCopy } from '../../call/payload-port.ts'
import { headerPairs } from '../../lib/http/header-list.ts'

/** Most bytes of an answer that fits the kernel's buffer of a connection. */
const shortAnswer = 65_536
/** Most bytes of a chunk that is framed in one piece. Copying a larger chunk costs more than it saves. */
const largestFramed = 8192

/** Receives an answer as it arrives: the client, or a part that inspects it first. */
export interface AnswerSink {
  head(head: ResponseHead): void
  /** Writes a chunk; returns false if the client does not keep up. */
  write(chunk: Uint8Array): boolean
  end(trailers: RawHeaders): void
  /** Ends an incomplete answer; held bytes are sent before. */
  breakOff?(): void
}

/** The attempt behind an answer, which the client's speed and departure control. */
export interface ResumableAttempt {
  abort(failure: Failure): void
  resume(): void
}

/**
 * The client's side of a call: writing, back-pressure, and whether the client is still connected.
 * An answer ends in one of three ways: `end` (complete), `cut` (visibly incomplete), or the client leaves.
 */
export class ClientResponse implements AnswerSink {
  readonly #res: ServerResponse
  /** Longest time (ms) in which the client moves no byte; 0 for no limit. */
  readonly stallTimeoutMs: number
  readonly #payloads: PayloadCopy | null
  readonly #closed = Promise.withResolvers<void>()
  /** Settles when the last byte has been handed to the client's connection, or that connection is gone. */
  readonly closed: Promise<void> = this.#closed.promise
  #abandon: AbortController | null = null
  #cancelled: Failure | null = null
  #cut = false
  #isClosed = false
  #headHeld = false
  /** Body bytes that the head announced and that are still to come. */
  #remaining: number | null = null
  /** The last piece of an answer of known length, which is sent together with the end. */
  #last: Uint8Array | null = null
  #sentBytes = 0

  /** Why the client counts as gone; `null` while it is connected. Set only here. */
  gone: Failure | null = null
  /** True if written bytes wait for the client to read them. Set only here. */
  isWaiting = false
  /**
   * The attempt that feeds this answer. The attempt is aborted when the client leaves or stalls, and resumed when
   * the client keeps up again.
   */
  source: ResumableAttempt | null = null

  /** `payloads` copies the answer after it was sent; null if this call is neither logged nor watched. */
  constructor(res: ServerResponse, stallTimeoutMs: number, payloads: PayloadCopy | null = null) {
    this.#res = res
    this.stallTimeoutMs = stallTimeoutMs
    this.#payloads = payloads
    res.sendDate = false
    res.on('close', () => this.#onClose())
    if (res.destroyed) this.#onClose()
  }

  /** A signal for waits of the call; aborted with the failure when the client leaves or the call is cancelled. */
  get signal(): AbortSignal {
    this.#abandon ??= new AbortController()
    if (this.over !== null) this.#abandon.abort(this.over)
    return this.#abandon.signal
  }

  /** Why work for this client is pointless; null while it is not. */
  get over(): Failure | null {
    return this.gone ?? this.#cancelled
  }

  /** The status that was sent; `null` before one. */
  get status(): number | null {
    return this.#res.headersSent ? this.#res.statusCode : null
  }

  informational(head: ResponseHead): void {
    if (head.status !== 103 || this.#res.headersSent || this.#res.req.httpVersionMinor === 0) return
    const hints = Object.groupBy(headerPairs(head.headers), ([name]) => name.toLowerCase())
    // Early hints that the client does not read would pile up.
    if (hints['link'] === undefined || this.#res.socket?.writableNeedDrain === true) return
    try {
      const values = Object.entries(hints).map(([name, pairs = []]) => [
        name,
        pairs.map(([, value]) => value),
      ])
      this.#res.writeEarlyHints(Object.fromEntries(values) as Record<string, string[]>)
    } catch {
      // A link that Node cannot parse is skipped: a hint is optional.
    }
  }

  /** Sends the head in this turn, together with body bytes that arrived with it. */
  head({ status, statusText, headers, contentLength }: ResponseHead): void {
    closeIfUnread(this.#res)
    // Node accepts the list and does not change it.
    this.#res.writeHead(status, statusText, headers as string[])
    if (this.#payloads !== null) this.#payloads.answerHead(status, headers)
    this.#remaining = contentLength
    this.#headHeld = true
    queueMicrotask(() => {
      // `flushHeaders` would write a head with non-ASCII letters in UTF-8.
      if (this.#headHeld) this.#res.write(noBytes)
    })
  }

  /** Sends a chunk. Returns false if the client does not keep up; the source is resumed when it does again. */
  write(chunk: Uint8Array): boolean {
    // A parser that resumes may pass an empty piece; as a chunk, it would mark the end.
    if (chunk.length === 0) return !this.isWaiting
    this.#sentBytes += chunk.length
    if (this.#remaining !== null) this.#remaining -= chunk.length
    let isTaken = true
    if (this.#remaining === 0) {
      // The end follows in this turn, because the parser also knows that the body is complete.
      this.#headHeld = false
      this.#last = chunk
    } else isTaken = this.#send(chunk)
    if (!isTaken && !this.isWaiting) this.#waitForDrain()
    if (this.#payloads !== null) this.#payloads.answerData(chunk)
    return isTaken
  }

  /** Collects the following writes, and sends them together when this read of the upstream has been relayed. */
  gather(): void {
    const { socket } = this.#res
    if (socket === null || socket.writableCorked > 0) return
    socket.cork()
    process.nextTick(uncork, socket)
  }

  end(trailers: RawHeaders): void {
    this.#headHeld = false
    if (trailers.length > 0) this.#addTrailers(trailers)
    if (this.#last === null) this.#res.end()
    else this.#res.end(this.#last)
    this.#last = null
    this.#waitForRest()
  }

  /** Sends the gateway's own answer if nothing was sent yet; otherwise cuts the answer. */
  refuse(failure: Failure, callId: string): void {
    if (this.gone !== null) return
    if (this.#res.headersSent) {
      this.cut()
      return
    }
    const { status, headers, body } = writeErrorAnswer(this.#res, failure, callId)
    if (this.#payloads === null) return
    this.#payloads.answerHead(status, headers)
    if (this.#res.req.method !== 'HEAD') this.#payloads.answerData(Buffer.from(body))
  }

  /**
   * Shows the client that the answer is incomplete: written bytes still go out, then the connection
   * breaks without the mark that ends a message. An HTTP/1.0 client takes a plain close for the end, so it
   * gets a reset.
   */
  cut(): void {
    const socket = this.#res.socket
    this.#cut = true
    if (this.#last !== null) this.#res.write(this.#last)
    if (socket === null) {
      this.#res.destroy()
      return
    }
    if (this.#res.req.httpVersionMinor > 0) socket.destroySoon()
    else socket.write('', () => socket.resetAndDestroy())
    this.#waitForRest()
  }

  /** Adds trailers, without those that Node refuses to write. Trailers may always be dropped (RFC 9110 §6.5.1). */
  #addTrailers(trailers: RawHeaders): void {
    try {
      this.#res.addTrailers(headerPairs(trailers))
    } catch {
      // The socket may be destroyed already.
    }
  }

  /** Ends the work for a client that is still connected, so that `failure` becomes its answer. */
  abandon(failure: Failure): void {
    this.#abandon?.abort(failure)
    this.source?.abort(failure)
  }

  /**
   * Abandons the call in any state. An answer with unread bytes is cut, so that the cancel need not wait for
   * the client. False if the call has ended.
   */
  cancel(failure: Failure): boolean {
    if (this.#isClosed || this.#res.writableFinished) return false
    if (this.#cancelled !== null) return true
    this.#cancelled = failure
    const isStuck = this.isWaiting || this.#res.writableEnded
    this.#cut ||= isStuck
    this.abandon(failure)
    if (isStuck) this.#res.socket?.resetAndDestroy()
    return true
  }

  /**
   * Writes a chunk. node:http would write four pieces (size, line end, data, line end), and hold them until
   * the turn is over. After the head, a chunk that is framed here is written as one.
   */
  #send(chunk: Uint8Array): boolean {
    const { socket, chunkedEncoding } = this.#res
    const isFirst = this.#headHeld
    this.#headHeld = false
    if (isFirst || socket === null || !chunkedEncoding || chunk.length > largestFramed)
      return this.#res.write(chunk)
    return socket.write(chunkFrame(chunk))
  }

  #waitForDrain(): void {
    this.#watchForStall()
    this.#res.socket?.once('drain', () => {
      this.isWaiting = false
      if (this.#isClosed) return
      this.#res.setTimeout(0)
      this.source?.resume()
    })
  }

  /**
   * Waits for unread bytes at the end: they may be too few for `write` to return false, and still be stuck. A
   * short answer fits the kernel's buffer.
   */
  #waitForRest(): void {
    if (this.#sentBytes > shortAnswer && !this.isWaiting && (this.#res.socket?.writableLength ?? 0) > 0)
      this.#watchForStall()
  }

  #watchForStall(): void {
    this.isWaiting = true
    if (this.#res.listenerCount('timeout') === 0) this.#res.on('timeout', () => this.#onTimeout())
    this.#res.setTimeout(this.stallTimeoutMs)
  }

  /** Ends the call and its connection: the client is still there, but has moved no byte for too long. */
  stalled(message: string): void {
    if (this.#isClosed) return
    this.#leave(new Failure('client_stalled', message))
    this.#res.socket?.resetAndDestroy()
  }

  #onTimeout(): void {
    if (this.isWaiting) this.stalled('The client accepted no byte for too long.')
  }

  #onClose(): void {
    this.#isClosed = true
    if (!this.#res.writableFinished && !this.#cut) this.#leave(new Failure('client_gone', 'The client left.'))
    this.#closed.resolve()
  }

  #leave(failure: Failure): void {
    if (this.gone !== null) return
    this.gone = failure
    this.#abandon?.abort(failure)
    this.source?.abort(failure)
  }
}

function uncork(socket: Socket): void {
  socket.uncork()
}

/** A chunk of a chunked message (RFC 9112 §7.1) as a single buffer: size in hexadecimal, line end, data, line end. */
export function chunkFrame(data: Uint8Array): Buffer {
  const size = `${data.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(size.length + data.length + 2)
  frame.write(size, 'latin1')
  frame.set(data, size.length)
  frame[frame.length - 2] = 0x0d
  frame[frame.length - 1] = 0x0a
  return frame
}
