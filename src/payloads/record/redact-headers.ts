import { createHmac } from 'node:crypto'
import type { RawHeaders } from '../../call/call-observer.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import { remembered } from '../../lib/remembered.ts'
import { maskPath } from './mask-path.ts'

/** Headers whose whole value is a credential, whatever it looks like. */
const secretName =
  /^(?:set-)?cookie$|^(?:x-)?session(?:[-_]?id)?$|auth(?!or(?:s|ity)?$)|jwt|api[-_]?key|token$|secret|passw|credential|signature|-key$/
/** Named like one, and none. */
const openNames: ReadonlySet<string> = new Set([
  'idempotency-key',
  'x-idempotency-key',
  'sec-websocket-key',
  'www-authenticate',
  'proxy-authenticate',
])
/** A scheme of HTTP authentication and what follows it: RFC 9110 §11.4. */
const schemed =
  /^(bearer|basic|digest|token|apikey|api-key|key|negotiate|dpop|oauth|hmac|aws4-hmac-sha256)[ \t]+(.+)$/is
const longestRemembered = 300

/** Header lists fit to be kept: credentials are only a fingerprint and a length. */
export class HeaderRedaction {
  readonly #salt: Uint8Array
  readonly #names = remembered((name) => {
    const lower = name.toLowerCase()
    return { lower: maskKeys(lower), isSecret: secretName.test(lower) && !openNames.has(lower) }
  })
  readonly #secret = remembered((value) => this.#redacted(value), longestRemembered)
  readonly #open = remembered((value) => JSON.stringify(maskPath(value)), longestRemembered)

  /** `salt` is the installation's: the fingerprint of a key is the one that calls are known by. */
  constructor(salt: Uint8Array) {
    this.#salt = salt
  }

  /** As the JSON text of an object: names in lower case, the values of a repeated one in a list. */
  json(headers: RawHeaders): string {
    // Names are the client's: no object takes them as keys.
    const values = new Map<string, string>()
    let repeated: Set<string> | null = null
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const { lower, isSecret } = this.#names(headers[i] ?? '')
      const value = (isSecret ? this.#secret : this.#open)(headers[i + 1] ?? '')
      const before = values.get(lower)
      if (before !== undefined) (repeated ??= new Set()).add(lower)
      values.set(lower, before === undefined ? value : `${before},${value}`)
    }
    let json = '{'
    for (const [name, value] of values) {
      if (json.length > 1) json += ','
      json += `${JSON.stringify(name)}:${repeated?.has(name) === true ? `[${value}]` : value}`
    }
    return `${json}}`
  }

  #redacted(value: string): string {
    if (value === '') return '""'
    const [, scheme, rest] = schemed.exec(value) ?? []
    const secret = rest ?? value
    const print = createHmac('sha256', this.#salt).update(secret).digest('hex').slice(0, 8)
    return JSON.stringify(`${scheme === undefined ? '' : `${scheme} `}hmac:${print}(${secret.length})`)
  }
}
