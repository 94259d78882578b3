import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import { Failure } from '../../call/failure.ts'
import type { AnswerSink } from '../http/client-answer.ts'

/** Of a 429 that nobody will see, so much is read to keep its connection, in bytes. */
const longestRead = 65_536

/**
 * The answer to a call that may be tried again: a 429 that is to be followed by another attempt is kept from the
 * client, all else goes on as it comes. Decided by the head, so that nothing is ever taken back.
 */
export class RetriableAnswer implements AnswerSink {
  readonly #client: AnswerSink
  readonly #waitAfter: (head: ResponseHead) => number | null
  #waitMs: number | null = null
  #unread = longestRead

  /** `waitAfter` is asked about a 429: milliseconds until the next attempt, or `null` where there will be none. */
  constructor(client: AnswerSink, waitAfter: (head: ResponseHead) => number | null) {
    this.#client = client
    this.#waitAfter = waitAfter
  }

  /** Milliseconds to wait before the next attempt; `null` where the client has this answer, or none came. */
  get waitMs(): number | null {
    return this.#waitMs
  }

  head(head: ResponseHead, added: readonly string[]): void {
    if (head.status === 429) this.#waitMs = this.#waitAfter(head)
    if (this.#waitMs === null) this.#client.head(head, added)
  }

  /** Throws a failure of the upstream's side where the body of a 429 is longer than a connection is worth. */
  write(chunk: Uint8Array): boolean {
    if (this.#waitMs === null) return this.#client.write(chunk)
    this.#unread -= chunk.length
    if (this.#unread < 0)
      throw new Failure('upstream_http', 'The rest of a 429 that is tried again is not read.')
    return true
  }

  end(trailers: RawHeaders): void {
    if (this.#waitMs === null) this.#client.end(trailers)
  }
}
