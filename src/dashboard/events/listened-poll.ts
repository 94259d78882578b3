import type { Clock } from '../../call/clock.ts'

const everyMs = 1000

/** What is looked at, and for whom. */
export interface ListenedPollOptions {
  readonly clock: Clock
  readonly look: () => Promise<void>
  readonly hasListeners: () => boolean
  /** Nobody listens any more: what was seen is old by the time the next one comes. */
  readonly onRest: () => void
  readonly onFault: (error: unknown) => void
}

/** Looks once a second, never twice at a time, and only while somebody listens. */
export class ListenedPoll {
  readonly #options: ListenedPollOptions
  #looking = false
  /** Whether to look again as soon as the look under way is over, which may have been too early. */
  #again = false
  #cancelNext: (() => void) | null = null

  constructor(options: ListenedPollOptions) {
    this.#options = options
  }

  /** Begins, where it has not begun yet. */
  start(): void {
    if (!this.#looking && this.#cancelNext === null) void this.#run()
  }

  /** Looks at once. */
  refresh(): void {
    if (this.#looking) this.#again = true
    else void this.#run()
  }

  rest(): void {
    this.#cancelNext?.()
    this.#cancelNext = null
    this.#options.onRest()
  }

  async #run(): Promise<void> {
    const { clock, look, hasListeners, onFault } = this.#options
    this.#cancelNext?.()
    this.#cancelNext = null
    this.#looking = true
    try {
      do {
        this.#again = false
        await look()
      } while (this.#again && hasListeners())
    } catch (error) {
      onFault(error)
    } finally {
      this.#looking = false
    }
    if (hasListeners()) this.#cancelNext = clock.after(everyMs, () => void this.#run(), { background: true })
    else this.rest()
  }
}
