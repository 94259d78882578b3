import type { Clock } from '../../src/call/clock.ts'

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
  readonly background: boolean
  cancelled: boolean
}

/**
 * A clock that stands still until told otherwise. Timers run in the order in which they are due, those due at
 * one instant in the order in which they were set, and `now()` shows the instant at which each was due.
 */
export class FakeClock implements Clock {
  #nowMs = 0
  #wallOffsetMs: number
  readonly #timers: Timer[] = []

  constructor(wallTimeMs: number = Date.UTC(2026, 10, 21, 6)) {
    this.#wallOffsetMs = wallTimeMs
  }

  now(): number {
    return this.#nowMs
  }

  wallTime(): number {
    return Math.floor(this.#nowMs + this.#wallOffsetMs)
  }

  after(ms: number, callback: () => void, options: { readonly background?: boolean } = {}): () => void {
    const timer: Timer = {
      dueMs: this.#nowMs + Math.max(0, ms),
      callback,
      background: options.background ?? false,
      cancelled: false,
    }
    let at = this.#timers.length
    while (at > 0 && (this.#timers[at - 1]?.dueMs ?? 0) > timer.dueMs) at -= 1
    this.#timers.splice(at, 0, timer)
    return () => {
      timer.cancelled = true
    }
  }

  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      if (signal?.aborted === true) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Timers that are set and neither cancelled nor run; with `false` only those that keep a process alive. */
  pending(background = true): number {
    return this.#timers.filter((timer) => !timer.cancelled && (background || !timer.background)).length
  }

  /** The machine's clock is set: later for a positive step, earlier for a negative one. */
  stepWallTime(ms: number): void {
    this.#wallOffsetMs += ms
  }

  /** Lets time pass, and runs what falls due meanwhile, without letting promises settle in between. */
  tick(ms: number): void {
    const untilMs = this.#nowMs + ms
    while (this.#runNext(untilMs));
    this.#nowMs = untilMs
  }

  /** Lets time pass, and lets promises settle before, between and after the timers that fall due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    while (this.#runNext(untilMs)) await settle()
    this.#nowMs = untilMs
    await settle()
  }

  #runNext(untilMs: number): boolean {
    const timer = this.#timers[0]
    if (timer === undefined || timer.dueMs > untilMs) return false
    this.#timers.shift()
    if (timer.cancelled) return true
    this.#nowMs = timer.dueMs
    timer.callback()
    return true
  }
}

/** Every promise that can settle without time passing has settled when this resolves. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
