import type { CallObserver, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'

/** Shows a call to an observer, and keeps it safe from it: one that throws is detached, and reported once. */
export class ObserverGuard implements CallObserver {
  #observer: CallObserver | null
  readonly #onDetached: (error: unknown) => void

  /** `onDetached` must not throw. */
  constructor(observer: CallObserver, onDetached: (error: unknown) => void) {
    this.#observer = observer
    this.#onDetached = onDetached
  }

  requestStart(atMs: number): void {
    this.#show((observer) => observer.requestStart(atMs))
  }

  responseStart(head: ResponseHead, atMs: number): void {
    this.#show((observer) => observer.responseStart(head, atMs))
  }

  /** Written out, because it runs for every chunk. */
  data(chunk: Uint8Array, atMs: number): void {
    try {
      this.#observer?.data(chunk, atMs)
    } catch (error) {
      this.#detach(error)
    }
  }

  end(atMs: number): void {
    this.#show((observer) => observer.end(atMs))
  }

  error(failure: Failure, atMs: number): void {
    this.#show((observer) => observer.error(failure, atMs))
  }

  #show(verb: (observer: CallObserver) => void): void {
    try {
      if (this.#observer !== null) verb(this.#observer)
    } catch (error) {
      this.#detach(error)
    }
  }

  #detach(error: unknown): void {
    this.#observer = null
    this.#onDetached(error)
  }
}
