import { createHmac, timingSafeEqual } from 'node:crypto'

/** The name's beginning: the rest tells apart the dashboards of one host, whose cookies all go to all ports. */
const namePrefix = 'tokenweir_session_'
const lifetimeS = 30 * 24 * 60 * 60
const attributes = 'HttpOnly; SameSite=Strict; Path=/'

/**
 * The cookie that stands for the admin token in a browser: until when it holds, signed with the token. It
 * outlives a restart of the dashboard, and ends with the token.
 */
export class SessionCookie {
  readonly #token: string
  readonly #name: string

  constructor(token: string) {
    this.#token = token
    this.#name = namePrefix + createHmac('sha256', token).update(namePrefix).digest('hex').slice(0, 8)
  }

  /** The value of a `Set-Cookie` that signs a browser in. */
  issue(wallTimeMs: number): string {
    const expiryS = Math.floor(wallTimeMs / 1000) + lifetimeS
    return `${this.#name}=${expiryS}.${this.#sign(expiryS)}; ${attributes}; Max-Age=${lifetimeS}`
  }

  /** Says if a `Cookie` header holds one of ours that is still good. */
  isIn(cookieHeader: string | null, wallTimeMs: number): boolean {
    // A browser may send several of one name, set for different paths.
    const ours = new RegExp(`(?<=^|;)\\s*${this.#name}=(\\d{1,12})\\.([\\w-]{43})\\s*(?=;|$)`, 'g')
    return [...(cookieHeader ?? '').matchAll(ours)].some(([, expiryS = '', signature = '']) => {
      const isSigned = timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(Number(expiryS))))
      return isSigned && Number(expiryS) * 1000 > wallTimeMs
    })
  }

  /** The value of a `Set-Cookie` that signs a browser out. */
  revoke(): string {
    return `${this.#name}=; ${attributes}; Max-Age=0`
  }

  #sign(expiryS: number): string {
    return createHmac('sha256', this.#token).update(`${namePrefix}${expiryS}`).digest('base64url')
  }
}
