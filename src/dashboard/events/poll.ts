import type { Clock } from '../../call/clock.ts'

const everyMs = 1000

export interface PollOptions {
  readonly clock: Clock
  readonly look: () => Promise<void>
  readonly onFault: (error: unknown) => void
}

/** Looks once a second, never twice at a time, from `start` to `stop`. */
export class Poll {
  readonly #options: PollOptions
  #isWanted = false
  #isLooking = false
  /** Look again as soon as the look under way is over, which may have been too early. */
  #again = false
  #cancelNext: (() => void) | undefined

  constructor(options: PollOptions) {
    this.#options = options
  }

  start(): void {
    this.#isWanted = true
    this.refresh()
  }

  /** Looks at once. */
  refresh(): void {
    this.#again = this.#isWanted
    if (this.#isWanted && !this.#isLooking) void this.#run()
  }

  stop(): void {
    this.#isWanted = false
    this.#cancelNext?.()
  }

  async #run(): Promise<void> {
    const { clock, look, onFault } = this.#options
    this.#cancelNext?.()
    this.#isLooking = true
    while (this.#again && this.#isWanted) {
      this.#again = false
      await look().catch(onFault)
    }
    this.#isLooking = false
    if (this.#isWanted) this.#cancelNext = clock.after(everyMs, () => this.refresh(), { background: true })
  }
}
