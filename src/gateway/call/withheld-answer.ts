import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { AnswerSink, ClientAnswer } from '../http/client-answer.ts'

/** So much of an answer that nobody will see is read, and waited for, to keep its connection: in bytes and milliseconds. */
const longestRead = 65_536
const longestWaitMs = 1000

/**
 * The answer to a call that may be tried again: one that another attempt is to follow is kept from the client, all else goes
 * on as it comes. Decided by the head, so that nothing is ever taken back.
 */
export class WithheldAnswer implements AnswerSink, Disposable {
  readonly #call: { readonly client: Pick<ClientAnswer, 'source'>; readonly clock: Clock }
  readonly #to: AnswerSink
  readonly #withholds: (head: ResponseHead) => boolean
  #unread = longestRead
  #cancelWait = (): void => {}
  isWithheld = false

  /** `to` gets what `withholds` lets pass. */
  constructor(
    call: { readonly client: Pick<ClientAnswer, 'source'>; readonly clock: Clock },
    to: AnswerSink,
    withholds: (head: ResponseHead) => boolean,
  ) {
    this.#call = call
    this.#to = to
    this.#withholds = withholds
  }

  head(head: ResponseHead): void {
    this.isWithheld = this.#withholds(head)
    if (!this.isWithheld) {
      this.#to.head(head)
      return
    }
    const { client, clock } = this.#call
    this.#cancelWait = clock.after(longestWaitMs, () => client.source?.abort(notRead('does not come')))
  }

  /** Throws a failure of the upstream's side where the body is longer than a connection is worth. */
  write(chunk: Uint8Array): boolean {
    if (!this.isWithheld) return this.#to.write(chunk)
    this.#unread -= chunk.length
    if (this.#unread < 0) throw notRead('is not read')
    return true
  }

  end(trailers: RawHeaders): void {
    if (!this.isWithheld) this.#to.end(trailers)
  }

  [Symbol.dispose](): void {
    this.#cancelWait()
  }
}

function notRead(what: string): Failure {
  return new Failure('upstream_http', `The rest of an answer that another attempt follows ${what}.`)
}
