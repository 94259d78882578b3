import { createHmac } from 'node:crypto'
import type { RawHeaders } from '../../call/response-head.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import { isSecretHeader } from '../../secrets/secret-headers.ts'
import { remembered } from '../../lib/remembered.ts'
import { maskPath } from './mask-path.ts'
import { headerPairs } from '../../lib/http/header-list.ts'

/** A scheme of HTTP authentication, and the credential after it (RFC 9110 §11.4). */
const schemed =
  /^(bearer|basic|digest|token|apikey|api-key|key|negotiate|dpop|oauth|hmac|aws4-hmac-sha256)[ \t]+(.+)$/is
/** Most characters of a value whose result is cached. */
const longestRemembered = 300

/**
 * Returns a function that writes headers as the JSON text of an object. Names are in lower case, a repeated
 * header has a list of values, and a fingerprint and a length replace a credential. `salt` is the
 * installation's, so that keys have the same fingerprints as in rows.
 */
export function headerRedaction(salt: Uint8Array): (headers: RawHeaders) => string {
  const names = remembered((name) => {
    const lower = name.toLowerCase()
    return { key: JSON.stringify(maskKeys(lower)), isSecret: isSecretHeader(lower) }
  })
  const secret = remembered((value) => redacted(value, salt), longestRemembered)
  const open = remembered((value) => JSON.stringify(maskPath(value)), longestRemembered)
  return (headers) => {
    // The client chooses the names, so they must not be keys of an object (`__proto__`).
    const values = new Map<string, string[]>()
    for (const [name, text] of headerPairs(headers)) {
      const { key, isSecret } = names(name)
      const value = (isSecret ? secret : open)(text)
      const before = values.get(key)
      if (before === undefined) values.set(key, [value])
      else before.push(value)
    }
    const members = [...values].map(([key, all]) => `${key}:${all.length === 1 ? all[0] : `[${all.join()}]`}`)
    return `{${members.join()}}`
  }
}

function redacted(value: string, salt: Uint8Array): string {
  if (value === '') return '""'
  const [, scheme, afterScheme] = schemed.exec(value) ?? []
  const secret = afterScheme ?? value
  const print = createHmac('sha256', salt).update(secret).digest('hex').slice(0, 8)
  return JSON.stringify(`${scheme === undefined ? '' : `${scheme} `}hmac:${print}(${secret.length})`)
}
