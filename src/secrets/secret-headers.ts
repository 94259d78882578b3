/** Headers whose whole value is a credential. */
const secretName =
  /^(?:set-)?cookie$|^(?:x-)?session(?:[-_]?id)?$|auth(?!or(?:s|ity)?$)|jwt|api[-_.]?key|access[-_]?key$|token$|secret|passw|credential|signature|-key$|bearer|(?:^|[-_])(?:pat|pwd|otp|hmac|sas)$/
/** Headers with such names that are no credentials. */
const openNames: ReadonlySet<string> = new Set([
  'idempotency-key',
  'x-idempotency-key',
  'sec-websocket-key',
  'www-authenticate',
  'proxy-authenticate',
])

/** True if a header of this name, in lower case, is a credential. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name) && !openNames.has(name)
}

/** Parameters of a query whose value is a credential: keys, signed addresses, codes of a sign-in. */
const secretParameters: ReadonlySet<string> = new Set([
  'key',
  'sig',
  'code',
  'pass',
  'pin',
  'ticket',
  'subscription_key',
])

/** True if a parameter of this name, as it stands in a query, is a credential. `key[]` and `key[0]` are named `key`. */
export function isSecretParameter(written: string): boolean {
  let name = written.replaceAll('+', ' ')
  try {
    name = decodeURIComponent(name)
  } catch {
    // A name with a broken escape is compared as it is.
  }
  const [plain = ''] = name.toLowerCase().trim().split('[', 1)
  return secretParameters.has(plain) || secretParameters.has(lastWord(name)) || isSecretHeader(plain)
}

/** `key` of `auth[key]`. */
function lastWord(name: string): string {
  return /\[([^\]]+)\]$/.exec(name.toLowerCase())?.[1] ?? ''
}
