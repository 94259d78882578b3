import type { Terminal } from '../../src/cli/terminal/terminal.ts'
import { FakeClock } from './fake-clock.ts'

/** Keeps what a command prints, and stands still in time. */
export class FakeTerminal implements Terminal {
  out = ''
  err = ''
  readonly clock: FakeClock
  readonly isWatched: boolean
  readonly color: boolean
  readonly signal: AbortSignal
  readonly width: () => number

  constructor({
    clock = new FakeClock(),
    isWatched = false,
    color = false,
    width = 100,
    signal = new AbortController().signal,
  }: Partial<Omit<Terminal, 'width' | 'clock'> & { clock: FakeClock; width: number }> = {}) {
    this.clock = clock
    this.isWatched = isWatched
    this.color = color
    this.width = () => width
    this.signal = signal
  }

  readonly print = (text: string): void => void (this.out += text)
  readonly warn = (text: string): void => void (this.err += text)
}
