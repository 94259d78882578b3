import { randomBytes } from 'node:crypto'
import type { Clock } from '../../call/clock.ts'
import { SecretToken } from '../../lib/secret-token.ts'
import { SessionCookie } from './session-cookie.ts'

const codeLifetimeMs = 15 * 60_000
const maxOpenCodes = 4

/** The ways to show that one knows the admin token. */
export class SignIn {
  readonly #clock: Clock
  readonly #token: SecretToken
  readonly #cookie: SessionCookie
  #openCodes: readonly { readonly secret: SecretToken; readonly untilMs: number }[] = []

  constructor(adminToken: string, clock: Clock) {
    this.#clock = clock
    this.#token = new SecretToken(adminToken)
    this.#cookie = new SessionCookie(adminToken)
  }

  /** Says if a request brings the token, or the cookie that stands for it. */
  isShownBy(tokenHeader: string | null, cookieHeader: string | null): boolean {
    return this.#token.matches(tokenHeader) || this.#cookie.isIn(cookieHeader, this.#clock.wallTime())
  }

  /** A code for a link, good once and for a quarter of an hour; beyond a few, the oldest one ends. */
  newCode(): string {
    const code = randomBytes(32).toString('base64url')
    const untilMs = this.#clock.now() + codeLifetimeMs
    this.#openCodes = [...this.#openCodes, { secret: new SecretToken(code), untilMs }].slice(-maxOpenCodes)
    return code
  }

  /** The `Set-Cookie` for a good code, which is then used up, or null. */
  byCode(code: string): string | null {
    const now = this.#clock.now()
    const found = this.#openCodes.find(({ secret, untilMs }) => untilMs > now && secret.matches(code))
    this.#openCodes = this.#openCodes.filter((open) => open !== found)
    return found === undefined ? null : this.#cookie.issue(this.#clock.wallTime())
  }

  /** The `Set-Cookie` for the right token, or null. */
  byToken(token: string): string | null {
    return this.#token.matches(token) ? this.#cookie.issue(this.#clock.wallTime()) : null
  }

  /** The `Set-Cookie` that takes the cookie away. */
  signOut(): string {
    return this.#cookie.revoke()
  }
}
