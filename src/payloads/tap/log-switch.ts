import type { Clock } from '../../call/clock.ts'

/** The longest time that a timer can be set to. */
const longestTimerMs = 2 ** 31 - 1

/** On or off, and off again by itself where a time was given. */
export class LogSwitch {
  readonly #clock: Clock
  readonly #onOff: () => void
  #isOn: boolean
  #untilMs: number | null = null
  #cancel: () => void = () => {}

  /** `onOff` is told when it goes off by itself. */
  constructor(clock: Clock, isOn: boolean, onOff: () => void) {
    this.#clock = clock
    this.#isOn = isOn
    this.#onOff = onOff
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** Ms since the Unix epoch; null where it stays as it is. */
  get untilMs(): number | null {
    return this.#untilMs
  }

  /** `forMs` is of no meaning for off. Ends what an earlier call said. */
  set(isOn: boolean, forMs: number | null): void {
    this.#cancel()
    this.#isOn = isOn
    const isTimed = isOn && forMs !== null
    this.#untilMs = isTimed ? this.#clock.wallTime() + forMs : null
    if (isTimed) this.#wait(this.#clock.now() + forMs)
  }

  #wait(dueMs: number): void {
    const remainingMs = dueMs - this.#clock.now()
    const onTime = (): void => {
      if (this.#clock.now() < dueMs) {
        this.#wait(dueMs)
        return
      }
      this.set(false, null)
      this.#onOff()
    }
    this.#cancel = this.#clock.after(Math.min(remainingMs, longestTimerMs), onTime, { background: true })
  }
}
