import type { RawHeaders } from '../../call/call-observer.ts'
import { remembered } from '../../lib/remembered.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import { isSecretHeader } from '../../secrets/secret-headers.ts'
import type { Withhold } from '../call/attempt.ts'
import { usualSessionPlaces } from '../caller/caller-headers.ts'

const longestRemembered = 300

/** Headers that are named like a credential, and name a session. */
const isCredential = remembered((name) => {
  const lower = name.toLowerCase()
  return isSecretHeader(lower) && !usualSessionPlaces.ranks.has(lower)
})
const holdsKey = remembered((value) => maskKeys(value) !== value, longestRemembered)

/** Takes a client's credentials out of what an upstream gets that they are not for: by a header's name, and by their form. */
export const withoutCredentials: Withhold = {
  headers(headers: RawHeaders): string[] {
    const open: string[] = []
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = headers[at] ?? ''
      const value = headers[at + 1] ?? ''
      if (!isCredential(name) && !holdsKey(value)) open.push(name, value)
    }
    return open
  },

  query(query: string): string {
    if (query === '') return query
    const open = query
      .slice(1)
      .split('&')
      .filter((pair) => !isSecretPair(pair))
    return open.length === 0 ? '' : `?${open.join('&')}`
  },
}

function isSecretPair(pair: string): boolean {
  let name = pair.split('=', 1)[0] ?? ''
  try {
    name = decodeURIComponent(name)
  } catch {
    // It is looked at as it stands.
  }
  return name.toLowerCase() === 'key' || isCredential(name) || holdsKey(pair)
}
