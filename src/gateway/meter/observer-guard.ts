import type { CallObserver, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'

/**
 * Shows a call to several observers, in order, and keeps it safe from them: one that throws is detached for the
 * rest of the call, and reported once.
 */
export class ObserverGuard implements CallObserver {
  #observers: readonly CallObserver[]
  readonly #onDetached: (error: unknown) => void

  /** `onDetached` must not throw. */
  constructor(observers: readonly CallObserver[], onDetached: (error: unknown) => void) {
    this.#observers = observers
    this.#onDetached = onDetached
  }

  admitted(atMs: number): void {
    this.#show((observer) => observer.admitted(atMs))
  }

  requestStart(atMs: number): void {
    this.#show((observer) => observer.requestStart(atMs))
  }

  responseStart(head: ResponseHead, atMs: number): void {
    this.#show((observer) => observer.responseStart(head, atMs))
  }

  /** Written out, because it runs for every chunk. */
  data(chunk: Uint8Array, atMs: number): void {
    for (const observer of this.#observers) {
      try {
        observer.data(chunk, atMs)
      } catch (error) {
        this.#detach(observer, error)
      }
    }
  }

  end(atMs: number): void {
    this.#show((observer) => observer.end(atMs))
  }

  error(failure: Failure, atMs: number): void {
    this.#show((observer) => observer.error(failure, atMs))
  }

  #show(verb: (observer: CallObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        verb(observer)
      } catch (error) {
        this.#detach(observer, error)
      }
    }
  }

  /** The list is replaced, so that the round that is under way goes on over the old one. */
  #detach(observer: CallObserver, error: unknown): void {
    this.#observers = this.#observers.filter((other) => other !== observer)
    this.#onDetached(error)
  }
}
