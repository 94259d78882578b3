import type { Clock } from '../../call/clock.ts'

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

  /** `forMs` is of no meaning for off, and a week at most. Ends what an earlier call said. */
  set(isOn: boolean, forMs: number | null): void {
    this.#cancel()
    this.#cancel = () => {}
    this.#isOn = isOn
    this.#untilMs = null
    if (!isOn || forMs === null) return
    this.#untilMs = this.#clock.wallTime() + forMs
    const onTime = (): void => {
      this.set(false, null)
      this.#onOff()
    }
    this.#cancel = this.#clock.after(forMs, onTime, { background: true })
  }
}
