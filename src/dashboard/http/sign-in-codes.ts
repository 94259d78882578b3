import { randomBytes } from 'node:crypto'
import type { Clock } from '../../call/clock.ts'
import { SecretToken } from '../../lib/secret-token.ts'

const lifetimeMs = 15 * 60_000
const maxOpen = 4

interface OpenCode {
  readonly secret: SecretToken
  readonly untilMs: number
}

/** Codes for links that sign a browser in, each of them once and for a quarter of an hour. */
export class SignInCodes {
  readonly #clock: Clock
  #open: readonly OpenCode[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A new code; beyond a few, the oldest one ends. */
  issue(): string {
    const code = randomBytes(32).toString('base64url')
    const untilMs = this.#clock.now() + lifetimeMs
    this.#open = [...this.#open, { secret: new SecretToken(code), untilMs }].slice(-maxOpen)
    return code
  }

  /** Says if the code was good, and uses it up. */
  redeem(code: string): boolean {
    const now = this.#clock.now()
    const found = this.#open.find(({ secret, untilMs }) => untilMs > now && secret.matches(code))
    this.#open = this.#open.filter((open) => open !== found && open.untilMs > now)
    return found !== undefined
  }
}
