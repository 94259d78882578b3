import type { CallDraft } from '../../call/call-record.ts'
import { Failure } from '../../call/failure.ts'
import type { PayloadCopy } from '../../call/payload-port.ts'
import { showDecoded } from '../http/decoded-copy.ts'
import {
  type BodyLimits,
  HeldBody,
  beginsAsObject,
  endReading,
  mayBeObject,
  mayBeginObject,
  readAhead,
  readBody,
  streamBody,
} from '../http/request-body.ts'
import type { ClientResponse } from '../http/client-response.ts'
import { FormPeek, boundaryOf } from '../http/form-peek.ts'
import type { PathMeaning } from '../http/path-meaning.ts'
import type { RequestHead } from '../http/request-head.ts'
import { type RequestFacts, RequestPeek, factsOfCopy, noFacts } from '../http/request-peek.ts'
import { storedText } from '../recorder/stored-text.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import type { ArrivedCall } from './running-call.ts'

/** Most characters of a content coding that a message repeats. */
const longestCoding = 40

export interface CallRequestOptions {
  readonly limits: BodyLimits
  readonly upstreams: Pick<Upstreams, 'areSeveral'>
  /** Receives internal errors that must not affect the call. */
  readonly onFault: (error: unknown) => void
}

/** The request of a call: its body, and the fields read from it. */
export class CallRequest implements Disposable {
  readonly body: HeldBody
  readonly #arrived: ArrivedCall
  readonly #record: CallDraft
  readonly #payloads: PayloadCopy | null
  readonly #onFault: (error: unknown) => void
  /** True if the body may name a model, which chooses the upstream. */
  readonly #mayNameModel: boolean
  /** The boundary of a form; null for any other body. */
  readonly #boundary: string | null
  /** Reads the fields; null without a body that may have them. */
  readonly #peek: RequestPeek | FormPeek | null
  /** True if the body is forwarded while it arrives, and may name a model. */
  #peeksOnTheWay: boolean
  #facts: RequestFacts | null = null
  #isReadWhole: boolean
  /** The body of the newest attempt that is forwarded while it arrives; null if none is. */
  #stream: ReturnType<typeof streamBody> | null = null
  /** Ends the reading ahead; null before it. */
  #endAhead: (() => void) | null = null

  constructor(
    arrived: ArrivedCall,
    path: PathMeaning,
    record: CallDraft,
    payloads: PayloadCopy | null,
    { limits, upstreams, onFault }: CallRequestOptions,
  ) {
    const { req, head } = arrived
    const isRouted = upstreams.areSeveral
    this.#arrived = arrived
    this.#record = record
    this.#payloads = payloads
    this.#onFault = onFault
    this.body = new HeldBody(limits)
    const isPost = req.method === 'POST' && head.hasBody
    const boundary = isPost && !path.isInference ? boundaryOf(head.contentType) : null
    this.#boundary = boundary
    this.#peek = isPost ? newPeek(boundary) : null
    const mayBeRead = isPost && (boundary !== null || mayBeObject(head.contentType))
    this.#mayNameModel = isRouted && mayBeRead && boundary === null
    this.#isReadWhole =
      path.isInference ||
      (head.contentEncoding !== null && this.#mayNameModel) ||
      (isRouted && path.takesForm && boundary !== null)
    this.#peeksOnTheWay = mayBeRead && head.contentEncoding === null
  }

  /** The fields of the body; null until the body is read. */
  get facts(): RequestFacts | null {
    return this.#facts
  }

  /** True if the body is read as a whole before the call queues. Any other body is forwarded while it arrives. */
  get isReadWhole(): boolean {
    return this.#isReadWhole
  }

  /** True if the request can be sent again. */
  get isRepeatable(): boolean {
    return this.#isReadWhole || !this.#arrived.head.hasBody
  }

  /** Bytes of the body that have arrived here. */
  get arrivedBytes(): number {
    return Math.max(this.#record.requestBytes, this.body.bytes)
  }

  /** Reads on while the call waits for a slot, so that the end of its client's connection is noticed. */
  readAhead(): void {
    if (!this.isRepeatable) this.#endAhead ??= readAhead(this.#arrived.req, this.body)
  }

  /** Reads the body if the gateway needs it whole. Rejects with the `Failure` that ends the call. */
  read(): Promise<void> {
    const { req, head } = this.#arrived
    if (!this.#isReadWhole) return this.#mayNameModel ? this.#readIfObject() : Promise.resolve()
    const read = readBody(req, head, this.body, (piece) => this.#take(piece))
    return head.contentEncoding === null ? read : read.then(() => this.#readCopy())
  }

  async #readIfObject(): Promise<void> {
    this.#isReadWhole = await beginsAsObject(this.#arrived.req)
    if (this.#isReadWhole) await this.read()
  }

  /** Reads a decoded copy of the body, which is forwarded as it came. */
  async #readCopy(): Promise<void> {
    const copy = newPeek(this.#boundary)
    const coding = this.#arrived.head.contentEncoding ?? ''
    const isRead = await showDecoded(this.body.chunks, coding, (piece) => copy.push(piece))
    this.#facts = factsOfCopy(isRead ? copy.result() : null, this.#factsSoFar)
  }

  /** Call this once `read` has resolved. Returns the fields of the body. */
  received(): RequestFacts {
    this.#facts ??= this.#isReadWhole ? this.#factsSoFar : noFacts
    return this.#facts
  }

  get #factsSoFar(): RequestFacts {
    return this.#peek?.result() ?? noFacts
  }

  /** A body that is not needed as a whole, as it arrives; to be read once. */
  stream(client: ClientResponse): AsyncIterable<Uint8Array> {
    const see = (piece: Uint8Array): void => {
      if (this.#record.requestBytes === 0 && this.#peek instanceof RequestPeek)
        this.#peeksOnTheWay &&= mayBeginObject(piece)
      if (this.#peeksOnTheWay) this.#take(piece)
      else this.#onPassed(piece)
    }
    const stalled = (): void => client.stalled('The client sent no byte of its request for too long.')
    const { stallTimeoutMs } = client
    this.#endAhead?.()
    const watcher = { see, end: () => this.over(), stallTimeoutMs, stalled }
    this.#stream = streamBody(this.#arrived.req, this.body.chunks, watcher)
    return this.#stream
  }

  /** Frees the body. The upstream may have answered before it took all of it. */
  [Symbol.dispose](): void {
    this.body[Symbol.dispose]()
    this.#stream?.return().catch(() => undefined)
  }

  #take(piece: Uint8Array): void {
    this.#onPassed(piece)
    try {
      this.#peek?.push(piece)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #onPassed(piece: Uint8Array): void {
    this.#record.requestBytes += piece.length
    if (this.#payloads !== null) this.#payloads.requestData(piece)
  }

  /** The model named by a body that was forwarded while it arrived; null if it named none. */
  get modelOnTheWay(): string | null {
    return this.#peeksOnTheWay && !this.#isReadWhole ? this.#factsSoFar.model : null
  }

  /** Notes the end of the request, also for the raw log. */
  over(): void {
    if (this.#payloads !== null) this.#payloads.requestEnd(this.#record.model, this.#record.stream)
  }

  /** Replaces the model's name in the body. False if the body has no place for it. */
  rename(model: string): boolean {
    const range = this.#facts?.modelPlace ?? null
    if (range === null) return false
    const bytes = Buffer.concat(this.body.chunks)
    const name = Buffer.from(JSON.stringify(model))
    this.body.replace([Buffer.concat([bytes.subarray(0, range.start), name, bytes.subarray(range.end)])])
    const peek = new RequestPeek()
    for (const chunk of this.body.chunks) peek.push(chunk)
    this.#facts = peek.result()
    return true
  }

  /** Ends the reading of a body that is still being read. */
  endReading(reason: Failure): void {
    endReading(this.#arrived.req, reason)
  }
}

function newPeek(boundary: string | null): RequestPeek | FormPeek {
  return boundary === null ? new RequestPeek() : new FormPeek(boundary)
}

/** Why the body of a request cannot be read. */
export function unreadableBody({ contentEncoding }: RequestHead): string {
  const coding = storedText(contentEncoding ?? '', longestCoding)
  return `The request body cannot be decoded (Content-Encoding: ${coding}). The gateway reads gzip, deflate, br and zstd.`
}

/** The refusal of a call whose model cannot be read, so that its upstream is unknown. */
export function unreadableModel(head: RequestHead): Failure {
  const advice = 'Send it without a coding, or name the upstream in the path.'
  return new Failure('unreadable_body', `${unreadableBody(head)} ${advice}`, {
    headers: ['Accept-Encoding', 'gzip, deflate, br, zstd'],
  })
}
