import { type JsonRecord, parseRecord } from './json-record.ts'
import { type RequestFraming, type RequestHead, rawHeader } from './request-reader.ts'

/** How a connection ended, as the upstream saw it. Times are `performance.now()` in milliseconds. */
export interface ConnectionEnd {
  readonly by: 'client' | 'upstream'
  readonly how: 'fin' | 'reset'
  readonly atMs: number
}

/** One TCP connection that was made to the simulated upstream. */
export interface SeenConnection {
  readonly index: number
  readonly openedAtMs: number
  /** In order of arrival. */
  readonly requests: readonly SeenRequest[]
  /** `undefined` while it is open. */
  readonly end: ConnectionEnd | undefined
  readonly closed: Promise<ConnectionEnd>
}

/** How the answer to a request ended: to the script's end, by the script's break, or by the client's leaving. */
export type ReplyEnd = 'complete' | 'cut' | 'reset' | 'client-left'

/** What the simulated upstream saw of one request, filled in as it comes. */
export class SeenRequest {
  /** Counted over all connections, from 0. */
  readonly index: number
  readonly connection: SeenConnection
  readonly method: string
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly framing: RequestFraming
  /** The head's exact bytes. */
  readonly headBytes: Buffer
  readonly headAtMs: number
  /** Every read that brought body bytes. */
  readonly bodyReads: readonly { readonly atMs: number; readonly byteLength: number }[]
  /** Settles when the whole body is there; never, if it never comes. */
  readonly bodyEnd: Promise<void>
  readonly replyEnd: Promise<ReplyEnd>
  readonly #pieces: Buffer[] = []
  readonly #reads: { atMs: number; byteLength: number }[] = []
  readonly #bodyEnd = Promise.withResolvers<void>()
  readonly #replyEnd = Promise.withResolvers<ReplyEnd>()
  #bodyEndAtMs: number | undefined
  #replyEndAtMs: number | undefined

  constructor(index: number, connection: SeenConnection, head: RequestHead, atMs: number) {
    this.index = index
    this.connection = connection
    this.method = head.method
    this.target = head.target
    this.httpVersion = head.httpVersion
    this.rawHeaders = head.rawHeaders
    this.framing = head.framing
    this.headBytes = head.bytes
    this.headAtMs = atMs
    this.bodyReads = this.#reads
    this.bodyEnd = this.#bodyEnd.promise
    this.replyEnd = this.#replyEnd.promise
  }

  /** The last value of a header, by its name in any case. */
  header(name: string): string | undefined {
    return rawHeader(this.rawHeaders, name)
  }

  /** The body so far, its transfer coding taken off. */
  get body(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  /** The body as an object; empty where it is not one. */
  json(): JsonRecord {
    return parseRecord(this.body.toString())
  }

  get bodyEndAtMs(): number | undefined {
    return this.#bodyEndAtMs
  }

  get replyEndAtMs(): number | undefined {
    return this.#replyEndAtMs
  }

  /** For the upstream only. */
  addBody(bytes: Buffer, atMs: number): void {
    this.#pieces.push(Buffer.from(bytes))
    this.#reads.push({ atMs, byteLength: bytes.length })
  }

  /** For the upstream only. */
  endBody(atMs: number): void {
    this.#bodyEndAtMs = atMs
    this.#bodyEnd.resolve()
  }

  /** For the upstream only. */
  endReply(end: ReplyEnd, atMs: number): void {
    this.#replyEndAtMs = atMs
    this.#replyEnd.resolve(end)
  }
}
