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

/** Whether a header of this name, in lower case, is a credential. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name) && !openNames.has(name)
}
