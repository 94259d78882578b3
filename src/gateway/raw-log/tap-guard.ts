import type { CallRecord } from '../../call/call-record.ts'
import type { RawHeaders } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import type { PayloadTap } from '../../call/payload-log.ts'

/**
 * Shows one call's payloads to a tap, and keeps the call safe from it: a tap that throws is detached for the rest of
 * the call, and reported once.
 */
export class TapGuard {
  #tap: PayloadTap | null
  readonly #clock: Clock
  readonly #onDetached: (error: unknown) => void

  /** `onDetached` must not throw. */
  constructor(tap: PayloadTap, clock: Clock, onDetached: (error: unknown) => void) {
    this.#tap = tap
    this.#clock = clock
    this.#onDetached = onDetached
  }

  requestData(chunk: Uint8Array): void {
    this.#show((tap) => tap.requestData(chunk))
  }

  requestEnd(model: string | null, stream: boolean): void {
    this.#show((tap) => tap.requestEnd(model, stream))
  }

  answerHead(status: number, headers: RawHeaders): void {
    this.#show((tap) => tap.answerHead(status, headers))
  }

  /** Written out, because it runs for every chunk. */
  answerData(chunk: Uint8Array): void {
    try {
      this.#tap?.answerData(chunk, this.#clock.now())
    } catch (error) {
      this.#detach(error)
    }
  }

  ended(record: CallRecord): void {
    this.#show((tap) => tap.ended(record))
  }

  #show(verb: (tap: PayloadTap) => void): void {
    try {
      if (this.#tap !== null) verb(this.#tap)
    } catch (error) {
      this.#detach(error)
    }
  }

  #detach(error: unknown): void {
    this.#tap = null
    this.#onDetached(error)
  }
}
