import type { IncomingMessage } from 'node:http'
import { Failure } from '../../call/failure.ts'
import type { RequestHead } from './request-head.ts'

/** Bounds each request body, and all that are held at a time. */
export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly maxHeldBytes: number
  /** All bodies together. */
  heldBytes: number
}

/** A request body that is held as the list of chunks in which it came, until it is let go. */
export class HeldBody implements Disposable {
  readonly chunks: Uint8Array[] = []
  readonly #limits: BodyLimits
  bytes = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  /** Why a body of this size is not taken, or `null` where it may be. */
  refusal(bytes: number): Failure | null {
    if (bytes <= this.#limits.maxBodyBytes) return null
    const megabytes = this.#limits.maxBodyBytes / 1_000_000
    return new Failure('body_too_large', `The request body is larger than ${megabytes} MB (--max-body-mb).`)
  }

  /** Answers why this chunk cannot be held, or `null` if it now is. */
  add(chunk: Uint8Array): Failure | null {
    const limits = this.#limits
    const tooLarge = this.refusal(this.bytes + chunk.length)
    if (tooLarge !== null) return tooLarge
    if (limits.heldBytes + chunk.length > limits.maxHeldBytes) {
      const message = 'Too many request bodies are waiting; try again soon.'
      return new Failure('buffers_full', message, { retryAfterS: 1 })
    }
    limits.heldBytes += chunk.length
    this.bytes += chunk.length
    this.chunks.push(chunk)
    return null
  }

  /** Holds another body in its place. */
  replace(chunks: readonly Uint8Array[]): void {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
    this.#limits.heldBytes += bytes - this.bytes
    this.bytes = bytes
    this.chunks.splice(0, this.chunks.length, ...chunks)
  }

  [Symbol.dispose](): void {
    this.#limits.heldBytes -= this.bytes
    this.bytes = 0
    this.chunks.length = 0
  }
}

/** Reads a body whole into `body`, showing each chunk to `peek` as it comes. */
export function readBody(
  req: IncomingMessage,
  head: RequestHead,
  body: HeldBody,
  peek: (chunk: Uint8Array) => void,
): Promise<void> {
  if (!head.hasBody) return Promise.resolve()
  const tooLarge = head.contentLength === null ? null : body.refusal(head.contentLength)
  if (tooLarge !== null) return Promise.reject(tooLarge)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  req.on('data', (chunk: Buffer) => {
    const refusal = body.add(chunk)
    if (refusal === null) {
      peek(chunk)
      return
    }
    req.removeAllListeners('data')
    req.pause()
    reject(refusal)
  })
  req.on('end', resolve)
  req.on('error', (error) => {
    const gone = new Failure('client_gone', 'The client left while it sent its request.')
    reject(error instanceof Failure ? error : gone)
  })
  return promise
}

/** Ends the reading of a body that is still being read, for this reason. Answers false where none is. */
export function endReading(req: IncomingMessage, reason: Failure): boolean {
  return !req.complete && req.listenerCount('error') > 0 && req.emit('error', reason)
}

/** A body that is passed on as it comes, never held; `see` is shown each piece, and `end` called when it is whole. */
export async function* streamBody(
  req: IncomingMessage,
  see: (piece: Uint8Array) => void,
  end: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of req) {
    see(chunk as Buffer)
    yield chunk as Buffer
  }
  end()
}
