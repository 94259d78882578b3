import type { StoredCall } from '../../call/call-record.ts'
import type { ObserveRows, ObserverModule, RowObserver, Warn } from '../../call/row-observer.ts'
import { messageOf } from '../../lib/errors.ts'

/** The observers of the writer's thread, none of which can fail the writer. */
export class RowObservers {
  readonly #observers = new Map<string, RowObserver>()
  readonly #warn: Warn

  constructor(warn: Warn) {
    this.#warn = warn
  }

  get isEmpty(): boolean {
    return this.#observers.size === 0
  }

  async load(modules: readonly ObserverModule[]): Promise<void> {
    for (const { name, url, settings } of modules) {
      try {
        const { observeRows }: { observeRows: ObserveRows<unknown> } = await import(url)
        this.#observers.set(name, observeRows(settings, this.#warn))
      } catch (error) {
        this.#failed(name, error)
      }
    }
  }

  recorded(calls: readonly StoredCall[]): void {
    for (const [name, observer] of this.#observers) {
      try {
        observer.recorded(calls)
      } catch (error) {
        this.#failed(name, error)
      }
    }
  }

  /** Asks an observer by name; resolves with null if there is none, or it has failed. */
  async answer(name: string, question: string): Promise<string | null> {
    try {
      return (await this.#observers.get(name)?.answer?.(question)) ?? null
    } catch (error) {
      this.#failed(name, error)
      return null
    }
  }

  async close(): Promise<void> {
    const closing = [...this.#observers.values()].map(async (observer) => observer.close?.())
    await Promise.allSettled(closing)
  }

  #failed(name: string, error: unknown): void {
    this.#observers.delete(name)
    const message = `${name} failed and is off until the next start; calls are recorded as before: ${messageOf(error)}`
    this.#warn(`observer ${name}`, { code: 'observer_failed', message })
  }
}
