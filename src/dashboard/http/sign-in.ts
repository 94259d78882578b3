import type { Clock } from '../../call/clock.ts'
import { SecretToken } from '../../lib/secret-token.ts'
import { SessionCookie } from './session-cookie.ts'
import { SignInCodes } from './sign-in-codes.ts'

/** The ways to show that one knows the admin token. */
export class SignIn {
  readonly #clock: Clock
  readonly #token: SecretToken
  readonly #cookie: SessionCookie
  readonly #codes: SignInCodes

  constructor(adminToken: string, clock: Clock) {
    this.#clock = clock
    this.#token = new SecretToken(adminToken)
    this.#cookie = new SessionCookie(adminToken)
    this.#codes = new SignInCodes(clock)
  }

  /** Says if a request brings the token, or the cookie that stands for it. */
  isShownBy(tokenHeader: string | null, cookieHeader: string | null): boolean {
    return this.#token.matches(tokenHeader) || this.#cookie.isIn(cookieHeader, this.#clock.wallTime())
  }

  newCode(): string {
    return this.#codes.issue()
  }

  /** The `Set-Cookie` for a good code, which is then used up, or null. */
  byCode(code: string): string | null {
    return this.#codes.redeem(code) ? this.#cookie.issue(this.#clock.wallTime()) : null
  }

  /** The `Set-Cookie` that takes the cookie away. */
  signOut(): string {
    return this.#cookie.revoke()
  }

  /** The `Set-Cookie` for the right token, or null. */
  byToken(token: string): string | null {
    return this.#token.matches(token) ? this.#cookie.issue(this.#clock.wallTime()) : null
  }
}
