/** HTTP header lists as they come off the wire: name, value, name, value … */

/** The tokens of a comma-separated list (RFC 9110 §5.6.1), lower-cased, without empty ones. */
export function listTokens(value: string): string[] {
  return value
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '')
}

/** The headers of a list as pairs. For each call of the gateway, a loop over the list costs less. */
export function headerPairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length >> 1 }, (_, i) => [
    headers[2 * i] ?? '',
    headers[2 * i + 1] ?? '',
  ])
}

/** The values of a header, joined by commas (RFC 9110 §5.3); null if it is absent. The name is in lower case. */
export function headerOf(headers: readonly string[], name: string): string | null {
  let value: string | null = null
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const headerName = headers[at] ?? ''
    if (headerName.length !== name.length || headerName.toLowerCase() !== name) continue
    value = value === null ? (headers[at + 1] ?? '') : `${value},${headers[at + 1] ?? ''}`
  }
  return value
}

/** Headers that are hop-by-hop in every message, even if `Connection` does not name them (RFC 9110 §7.6.1). */
export const hopByHopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** A header list without the headers that the value of `Connection` names (RFC 9110 §7.6.1). */
export function withoutNominated(headers: string[], connection: string): string[] {
  const lower = connection.toLowerCase()
  if (lower === 'keep-alive' || lower === 'close') return headers
  const nominated = new Set(listTokens(connection))
  return headersWithout(headers, (name) => nominated.has(name.toLowerCase()))
}

/** A header list without the headers of which `isUnwanted` is true. */
export function headersWithout(
  headers: readonly string[],
  isUnwanted: (name: string, value: string) => boolean,
): string[] {
  const wanted: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    if (!isUnwanted(name, value)) wanted.push(name, value)
  }
  return wanted
}

/** A header list with `Accept-Encoding: identity`, for an answer without a content coding. */
export function uncoded(headers: readonly string[]): string[] {
  const out: string[] = []
  let isNamed = false
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const isCoding = name.length === 15 && name.toLowerCase() === 'accept-encoding'
    if (isCoding && isNamed) continue
    isNamed ||= isCoding
    out.push(name, isCoding ? 'identity' : (headers[i + 1] ?? ''))
  }
  if (!isNamed) out.push('accept-encoding', 'identity')
  return out
}
