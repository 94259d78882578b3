import type { IncomingMessage } from 'node:http'
import { Failure } from '../../call/failure.ts'
import { PacedReading } from './paced-reading.ts'
import type { RequestHead } from './request-head.ts'

/** Limits each request body, and all held bodies together. */
export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly maxHeldBytes: number
  /** Bytes of all held bodies together. */
  heldBytes: number
}

/** Bodies are read ahead while held bodies take at most this share of `maxHeldBytes`: other bodies need the rest. */
const aheadShare = 1 / 8
/** Smaller chunks (bytes) are merged, because each chunk costs some hundred bytes of memory. */
const smallChunk = 4096
/** Bytes that are allocated at a time for small chunks: the least and the most. */
const [leastRoom, mostRoom] = [1024, 65_536]
/** Most bytes of a tiny chunk, which costs more to parse than to move. */
const tinyChunk = 64
/**
 * Numbers of tiny chunks and of framing bytes beyond which a body is a flood. A single read of a connection can
 * bring ten thousand.
 */
const [tinyFlood, framingFlood] = [256, 4096]

/** Shared by all requests, because it limits the process's time for floods. */
const pace = new PacedReading()

/** A request body that is held as a list of chunks until it is disposed. */
export class HeldBody implements Disposable {
  readonly #chunks: Uint8Array[] = []
  readonly #limits: BodyLimits
  /** Memory in which small chunks are merged, and its used bytes; these come after `#chunks`. */
  #room: Uint8Array | null = null
  #roomUsed = 0
  #nextRoom = leastRoom
  #isDisposed = false
  bytes = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  /** Why a body of this size is refused; `null` if it is accepted. */
  refusal(bytes: number): Failure | null {
    if (bytes <= this.#limits.maxBodyBytes) return null
    const megabytes = this.#limits.maxBodyBytes / 1_000_000
    return new Failure('body_too_large', `The request body is larger than ${megabytes} MB (--max-body-mb).`)
  }

  /**
   * Adds a chunk; a disposed body drops it. Returns the reason that the body cannot hold it; `null` on success.
   * `share`: the part of `maxHeldBytes` that all bodies may take.
   */
  add(chunk: Uint8Array, share = 1): Failure | null {
    const limits = this.#limits
    if (this.#isDisposed) return null
    const tooLarge = this.refusal(this.bytes + chunk.length)
    if (tooLarge !== null) return tooLarge
    if (limits.heldBytes + chunk.length > limits.maxHeldBytes * share) {
      const message = 'Too many request bodies are waiting; try again soon.'
      return new Failure('buffers_full', message, { retryAfterS: 1 })
    }
    limits.heldBytes += chunk.length
    this.bytes += chunk.length
    if (chunk.length < smallChunk) this.#putTogether(chunk)
    else {
      this.#allChunks().push(chunk)
      this.#nextRoom = leastRoom
    }
    return null
  }

  /** The buffered chunks. */
  get chunks(): readonly Uint8Array[] {
    return this.#allChunks()
  }

  #putTogether(chunk: Uint8Array): void {
    if (this.#room === null || this.#room.length - this.#roomUsed < chunk.length) {
      const chunks = this.#allChunks()
      // Most bodies are a single small chunk, which is held without a copy.
      if ((chunks.at(-1)?.length ?? smallChunk) >= smallChunk) {
        chunks.push(chunk)
        return
      }
      this.#room = new Uint8Array(Math.max(chunk.length, this.#nextRoom))
      this.#roomUsed = 0
      // Buffers grow by half, so that at most a third of the memory is unused.
      this.#nextRoom = Math.min(mostRoom, this.#nextRoom * 1.5)
    }
    this.#room.set(chunk, this.#roomUsed)
    this.#roomUsed += chunk.length
  }

  #allChunks(): Uint8Array[] {
    if (this.#room !== null) this.#chunks.push(this.#room.subarray(0, this.#roomUsed))
    this.#room = null
    return this.#chunks
  }

  /** Replaces the held body. */
  replace(chunks: readonly Uint8Array[]): void {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
    this.#limits.heldBytes += bytes - this.bytes
    this.bytes = bytes
    this.#room = null
    this.#chunks.splice(0, this.#chunks.length, ...chunks)
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#limits.heldBytes -= this.bytes
    this.bytes = 0
    this.#room = null
    this.#chunks.length = 0
  }
}

const leftEarly = 'The client left while it sent its request.'

/** Reads a whole body into `body`, and passes each chunk to `peek`. Rejects with the `Failure` that ends the call. */
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
  hold(
    req,
    (chunk) => body.add(chunk),
    peek,
    (_, refusal) => reject(refusal),
  )
  req.on('end', resolve)
  req.on('error', (error) => {
    reject(error instanceof Failure ? error : new Failure('client_gone', leftEarly))
  })
  return promise
}

/** Adds the pieces that arrive to a body, up to the first that is refused. Returns a function that ends the reading. */
function hold(
  req: IncomingMessage,
  add: (chunk: Uint8Array) => Failure | null,
  onHeld: (chunk: Uint8Array) => void,
  onRefused: (chunk: Uint8Array, refusal: Failure) => void,
): () => void {
  let tiny = 0
  const onData = (chunk: Buffer): void => {
    if (chunk.length <= tinyChunk && ++tiny % tinyFlood === 0) pace.rest(req.socket)
    const refusal = add(chunk)
    if (refusal === null) {
      onHeld(chunk)
      return
    }
    end()
    onRefused(chunk, refusal)
  }
  const end = (): void => void req.off('data', onData).pause()
  req.on('data', onData)
  return end
}

/**
 * Holds the beginning of a body that is forwarded later, as far as there is room. A paused connection would not
 * show that its client has left. Returns a function that ends the reading.
 */
export function readAhead(req: IncomingMessage, body: HeldBody): () => void {
  return hold(
    req,
    (chunk) => body.add(chunk, aheadShare),
    () => {},
    (chunk) => req.unshift(chunk),
  )
}

const space = 0x20
const openBrace = 0x7b
/** First bytes of the byte order marks of UTF-8, UTF-16 and UTF-32. */
const marks: ReadonlyMap<number, number> = new Map([
  [0xef, 0xbb],
  [0xff, 0xfe],
  [0xfe, 0xff],
])
/** Content types of uploads, which are long, and never a JSON request. */
const uploads = /^\s*(?:multipart|audio|image|video)\//i

/** True if a body of this type may be a JSON object. */
export function mayBeObject(contentType: string | null): boolean {
  return contentType === null || !uploads.test(contentType)
}

/**
 * True if the bytes begin with a brace or a byte order mark, or are only white space, so that a JSON object
 * may begin.
 */
export function mayBeginObject(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > space)
  if (first === undefined || first === openBrace) return true
  const [mark = 0, next] = bytes
  return marks.has(mark) && (next === undefined || next === marks.get(mark))
}

/** Waits for the first bytes of a body, which stay unread; resolves with true if a JSON object may begin there. */
export function beginsAsObject(req: IncomingMessage): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const onReadable = (): void => {
    const chunk = req.read() as Buffer | null
    if (chunk === null) return
    leave()
    req.unshift(chunk)
    resolve(mayBeginObject(chunk))
  }
  const onEnd = (): void => {
    leave()
    resolve(false)
  }
  const onError = (error: unknown): void => {
    leave()
    reject(error instanceof Failure ? error : new Failure('client_gone', leftEarly))
  }
  const leave = (): void => {
    req.off('readable', onReadable).off('end', onEnd).off('error', onError)
  }
  req.on('readable', onReadable).on('end', onEnd).on('error', onError)
  return promise
}

/** Bodies that broke off before their reading began. */
const brokenOff = new WeakMap<IncomingMessage, Failure>()

/** Ends the reading of a body with a reason. False if the reading has not begun; it then ends as soon as it begins. */
export function endReading(req: IncomingMessage, reason: Failure): boolean {
  if (req.complete) return false
  if (req.listenerCount('error') > 0) return req.emit('error', reason)
  brokenOff.set(req, reason)
  return false
}

/** Receives a body that is forwarded as it arrives. */
export interface BodyWatcher {
  /** Gets each piece. */
  readonly see: (piece: Uint8Array) => void
  /** The body is complete. */
  readonly end: () => void
  /** Longest time (ms) between two pieces while the upstream takes them; 0 for no limit. */
  readonly stallTimeoutMs: number
  /** The client has sent nothing for that time. */
  readonly stalled: () => void
}

/** A body that is forwarded as it arrives, after its `held` beginning. An early end leaves the connection open for the answer. */
export async function* streamBody(
  req: IncomingMessage,
  held: readonly Uint8Array[],
  watcher: BodyWatcher,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { socket } = req
  const { stallTimeoutMs } = watcher
  let read = socket.bytesRead
  const flaw = brokenOff.get(req)
  if (flaw !== undefined) throw flaw
  let isAwaited = true
  const onTimeout = (): void => void (isAwaited ? watcher.stalled() : timer?.refresh())
  const timer = stallTimeoutMs === 0 ? undefined : setTimeout(onTimeout, stallTimeoutMs)
  try {
    for await (const chunk of piecesOf(req, held)) {
      // The bytes of one read are one piece here, even if they were many chunks.
      const readBytes = socket.bytesRead - read
      read += readBytes
      if (readBytes > framingFlood && chunk.length * 2 < readBytes) pace.rest(socket)
      watcher.see(chunk)
      isAwaited = false
      yield chunk
      isAwaited = true
      timer?.refresh()
    }
  } finally {
    clearTimeout(timer)
  }
  watcher.end()
}

async function* piecesOf(req: IncomingMessage, held: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* held
  yield* req.iterator({ destroyOnReturn: false })
}
