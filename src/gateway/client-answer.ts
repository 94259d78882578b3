import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { RawHeaders, ResponseHead } from '../call/call-observer.ts'
import { Failure } from '../call/failure.ts'
import { errorAnswer } from './error-answer.ts'

const nothing: Uint8Array = new Uint8Array(0)

/**
 * The client's side of a call: what is written to it, whether it keeps up, and whether it is still there.
 * An answer ends in one of three ways: `end` (complete), `cut` (visibly incomplete), or the client leaves.
 */
export class ClientAnswer {
  readonly #res: ServerResponse
  readonly #stallTimeoutMs: number
  readonly #closed = Promise.withResolvers<void>()
  #abandon: AbortController | null = null
  #gone: Failure | null = null
  #cut = false
  #headHeld = false
  #waiting = false

  /** Called once, in the turn in which the client is seen to have left or stalled, or is given up. */
  onGone: ((failure: Failure) => void) | null = null
  /** Called when the client has taken what was written and more may come. */
  onDrain: (() => void) | null = null

  constructor(res: ServerResponse, stallTimeoutMs: number) {
    this.#res = res
    this.#stallTimeoutMs = stallTimeoutMs
    res.sendDate = false
    res.on('close', () => this.#onClose())
    if (res.destroyed) this.#onClose()
  }

  /** Settles when the last byte has been handed to the client's connection, or that connection is gone. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Why the client counts as gone, or `null` while it is there. */
  get gone(): Failure | null {
    return this.#gone
  }

  /** Aborted, with the failure, when the client leaves: for waiting on its behalf. */
  get signal(): AbortSignal {
    this.#abandon ??= new AbortController()
    if (this.#gone !== null) this.#abandon.abort(this.#gone)
    return this.#abandon.signal
  }

  /** The status that was sent, or `null` where none was. */
  get status(): number | null {
    return this.#res.headersSent ? this.#res.statusCode : null
  }

  /** Whether written bytes wait for the client to take them. */
  get isWaiting(): boolean {
    return this.#waiting
  }

  informational(head: ResponseHead): void {
    if (head.status !== 103 || this.#res.headersSent || this.#res.req.httpVersionMinor === 0) return
    const hints: Record<string, string | string[]> = {}
    for (let i = 0; i + 1 < head.headers.length; i += 2) {
      const name = head.headers[i]?.toLowerCase() ?? ''
      const value = head.headers[i + 1] ?? ''
      const known = hints[name]
      hints[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value]
    }
    if (hints['link'] === undefined) return
    try {
      this.#res.writeEarlyHints(hints)
    } catch {
      // A link that Node does not understand is a hint that the client can do without.
    }
  }

  /** The head goes out in this very turn; together with body bytes, where some arrived with it. */
  head(head: ResponseHead, added: readonly string[]): void {
    this.#res.writeHead(head.status, head.statusText, head.headers.concat(added))
    this.#headHeld = true
    queueMicrotask(() => {
      // Not `flushHeaders`, which would write a head with letters beyond ASCII in UTF-8.
      if (this.#headHeld) this.#res.write(nothing)
    })
  }

  /** Answers false where the client does not keep up; `onDrain` tells when it does again. */
  write(chunk: Uint8Array): boolean {
    this.#headHeld = false
    if (this.#res.write(chunk)) return true
    if (!this.#waiting) this.#waitForDrain()
    return false
  }

  end(trailers: RawHeaders): void {
    this.#headHeld = false
    if (trailers.length > 0) this.#addTrailers(trailers)
    this.#res.end()
    this.#waitForRest()
  }

  /** The gateway's own answer, where nothing was sent yet; otherwise the answer is cut. */
  refuse(failure: Failure, callId: string): void {
    if (this.#gone !== null) return
    if (this.#res.headersSent) {
      this.cut()
      return
    }
    const { status, headers, body } = errorAnswer(failure, callId)
    const unread = this.#res.req.complete ? [] : ['Connection', 'close']
    // The phrase is named because one that could not be written would stay.
    this.#res.writeHead(status, STATUS_CODES[status] ?? '', [...headers, ...unread])
    this.#res.end(body)
  }

  /**
   * Makes the client see that the answer is not whole: what was written still goes out, then the connection
   * breaks without the mark that ends a message. An HTTP/1.0 client takes a plain close for the end, so it
   * gets a reset.
   */
  cut(): void {
    const socket = this.#res.socket
    this.#cut = true
    if (socket === null) {
      this.#res.destroy()
      return
    }
    if (this.#res.req.httpVersionMinor > 0) socket.destroySoon()
    else socket.write('', () => socket.resetAndDestroy())
    this.#waitForRest()
  }

  /** Trailers that Node refuses to write are left out: an answer may always lose them (RFC 9110 §6.5.1). */
  #addTrailers(trailers: RawHeaders): void {
    const pairs: [string, string][] = []
    for (let i = 0; i + 1 < trailers.length; i += 2) pairs.push([trailers[i] ?? '', trailers[i + 1] ?? ''])
    try {
      this.#res.addTrailers(pairs)
    } catch {
      // As above.
    }
  }

  /** Ends what is done on behalf of a client that is still there, so that `failure` comes to be its answer. */
  abandon(failure: Failure): void {
    this.#abandon?.abort(failure)
    this.onGone?.(failure)
  }

  #waitForDrain(): void {
    this.#watchForStall()
    this.#res.once('drain', () => {
      this.#waiting = false
      this.#res.setTimeout(0)
      this.onDrain?.()
    })
  }

  /** What was written last may be less than makes `write` answer false, and be stuck all the same. */
  #waitForRest(): void {
    if (!this.#waiting && (this.#res.socket?.writableLength ?? 0) > 0) this.#watchForStall()
  }

  #watchForStall(): void {
    this.#waiting = true
    if (this.#res.listenerCount('timeout') === 0) this.#res.on('timeout', () => this.#onStall())
    this.#res.setTimeout(this.#stallTimeoutMs)
  }

  #onStall(): void {
    if (!this.#waiting) return
    this.#leave(new Failure('client_stalled', 'The client accepted no byte for too long.'))
    this.#res.socket?.resetAndDestroy()
  }

  #onClose(): void {
    if (!this.#res.writableFinished && !this.#cut) this.#leave(new Failure('client_gone', 'The client left.'))
    this.#closed.resolve()
  }

  #leave(failure: Failure): void {
    if (this.#gone !== null) return
    this.#gone = failure
    this.#abandon?.abort(failure)
    this.onGone?.(failure)
  }
}
