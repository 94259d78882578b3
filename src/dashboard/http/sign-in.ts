import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../call/clock.ts'
import { type GuessSource, GuardedToken } from '../../lib/http/guarded-token.ts'
import { SecretToken } from '../../lib/secret-token.ts'

const codeLifetimeMs = 15 * 60_000
/** Most sign-in codes that are valid at once. */
const maxOpenCodes = 4
/** The beginning of the cookie's name. The port follows, because a browser sends cookies to all ports of a host. */
const namePrefix = 'tokenweir_session_'
const lifetimeS = 30 * 24 * 60 * 60
/** The default source of a guess: this machine, not through a proxy. */
const direct: GuessSource = { address: '127.0.0.1', forwardedFor: false }
const attributes = 'HttpOnly; SameSite=Strict; Path=/'

/**
 * Checks the admin token, and the cookie that a browser has instead: its expiry time, signed with the token.
 * The cookie survives a restart of the dashboard, and ends when the token changes.
 */
export class SignIn {
  readonly #clock: Clock
  readonly #secret: string
  readonly #token: GuardedToken
  readonly #cookieName: string
  #openCodes: readonly { readonly secret: SecretToken; readonly untilMs: number }[] = []

  constructor(adminToken: string, clock: Clock) {
    this.#clock = clock
    this.#secret = adminToken
    this.#token = new GuardedToken(adminToken, () => clock.now())
    this.#cookieName = namePrefix + this.#hmac(namePrefix).toString('hex', 0, 4)
  }

  /** True if a request brings the token or a valid cookie. */
  isShownBy(tokenHeader: string | null, cookieHeader: string | null, source: GuessSource = direct): boolean {
    return this.#token.matches(tokenHeader, source) || this.#isCookieIn(cookieHeader ?? '')
  }

  /**
   * A code for a sign-in link: valid once, for 15 minutes. Only a few codes are valid at a time; the oldest
   * ends first.
   */
  newCode(): string {
    const code = randomBytes(32).toString('base64url')
    const untilMs = this.#clock.now() + codeLifetimeMs
    this.#openCodes = [...this.#openCodes, { secret: new SecretToken(code), untilMs }].slice(-maxOpenCodes)
    return code
  }

  /** The `Set-Cookie` for a valid code, which ends with this call; null for any other code. */
  byCode(code: string): string | null {
    const now = this.#clock.now()
    const openCode = this.#openCodes.find(({ secret, untilMs }) => untilMs > now && secret.matches(code))
    this.#openCodes = this.#openCodes.filter((open) => open !== openCode)
    return openCode === undefined ? null : this.#cookie()
  }

  /** The `Set-Cookie` for the right token; null for a wrong one. */
  byToken(token: string, source: GuessSource = direct): string | null {
    return this.#token.matches(token, source) ? this.#cookie() : null
  }

  /** Milliseconds until a token from this source is checked again. */
  waitMs(source: GuessSource): number {
    return this.#token.waitMs(source)
  }

  /** The `Set-Cookie` that deletes the cookie. */
  signOut(): string {
    return `${this.#cookieName}=; ${attributes}; Max-Age=0`
  }

  #cookie(): string {
    const expiryS = Math.floor(this.#clock.wallTime() / 1000) + lifetimeS
    return `${this.#cookieName}=${expiryS}.${this.#sign(expiryS)}; ${attributes}; Max-Age=${lifetimeS}`
  }

  /** True if a `Cookie` header has a valid cookie of the dashboard. */
  #isCookieIn(header: string): boolean {
    // A browser may send several cookies of one name, set for different paths.
    const ownCookie = new RegExp(`(?<=^|;)\\s*${this.#cookieName}=(\\d{1,12})\\.([\\w-]{43})\\s*(?=;|$)`, 'g')
    return [...header.matchAll(ownCookie)].some(([, expiryS = '', signature = '']) => {
      const isSigned = timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(Number(expiryS))))
      return isSigned && Number(expiryS) * 1000 > this.#clock.wallTime()
    })
  }

  #sign(expiryS: number): string {
    return this.#hmac(`${namePrefix}${expiryS}`).toString('base64url')
  }

  #hmac(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(text).digest()
  }
}
