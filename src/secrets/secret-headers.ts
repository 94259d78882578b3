import { orNull } from '../lib/errors.ts'

/** Headers whose whole value is a credential. In these patterns `-` stands for `_`, too. */
const secretName =
  /^(?:set-)?cookie$|^(?:x-)?session(?:-?id)?$|auth(?!or(?:s|ity)?$)|jwt|api[-.]?key|accesskey$|token$|secret|passw|passphrase|credential|signature|bearer|(?:^|-)(?:key|pat|pwd|otp|hmac|sas)$/
/** Headers with similar names that are no credentials. */
const openName = /^(?:(?:x-)?idempotency-key|sec-websocket-key|(?:www|proxy)-authenticate)$/

/** True if a header of this name, in lower case, is a credential. */
export function isSecretHeader(name: string): boolean {
  const plain = name.replaceAll('_', '-')
  return secretName.test(plain) && !openName.test(plain)
}

/** Parameters of a query whose value is a credential: keys, signed addresses, codes of a sign-in. */
const secretParameter = /^(?:key|sig|code|pass|pin|ticket)$/

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
