import { orNull } from '../lib/errors.ts'

/** Headers whose whole value is a credential. */
const secretName =
  /^(?:set-)?cookie$|^(?:x-)?session(?:[-_]?id)?$|auth(?!or(?:s|ity)?$)|jwt|api[-_.]?key|access[-_]?key$|token$|secret|passw|credential|signature|-key$|bearer|(?:^|[-_])(?:pat|pwd|otp|hmac|sas)$/
/** Headers with similar names that are no credentials. */
const openName = /^(?:(?:x-)?idempotency-key|sec-websocket-key|(?:www|proxy)-authenticate)$/

/** True if a header of this name, in lower case, is a credential. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name) && !openName.test(name)
}

/** Parameters of a query whose value is a credential: keys, signed addresses, codes of a sign-in. */
const secretParameter = /^(?:key|sig|code|pass|pin|ticket|subscription_key)$/

/** True if a query parameter of this (escaped) name is a credential. `key[]` and `key[0]` count as `key`. */
export function isSecretParameter(parameter: string): boolean {
  const spaced = parameter.replaceAll('+', ' ')
  // A name with a broken escape is compared as it is.
  const name = (orNull(() => decodeURIComponent(spaced)) ?? spaced).toLowerCase()
  const [plain = ''] = name.trim().split('[', 1)
  // `key` of `auth[key]`
  const last = /\[([^\]]+)\]$/.exec(name)?.[1] ?? ''
  return secretParameter.test(plain) || secretParameter.test(last) || isSecretHeader(plain)
}
