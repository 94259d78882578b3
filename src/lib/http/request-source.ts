import { isIP } from 'node:net'

/** The origin of a request. */
export interface RequestSource {
  readonly host: string | null
  readonly origin: string | null
  readonly secFetchSite: string | null
  /** True if the request seems to come through a proxy, by {@link isProxyHeader} or {@link isProxyVersion}. */
  readonly forwardedFor: boolean
}

const proxyHeaders: ReadonlySet<string> = new Set([
  'via',
  'forwarded',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'x-client-ip',
])

/** True if a header, by its name in lower case, is one that only a proxy adds. */
export function isProxyHeader(name: string): boolean {
  return proxyHeaders.has(name) || name.startsWith('x-forwarded-') || name.startsWith('x-envoy-')
}

/** True if this version of HTTP suggests a proxy: by default nginx uses 1.0, and clients do not. */
export function isProxyVersion(httpVersion: string): boolean {
  return httpVersion === '1.0'
}

/**
 * True if a request was made to a loopback name, and not through a proxy. A foreign web page or a rebound name
 * (DNS rebinding) cannot make such a request.
 */
export function isToThisMachine({ host, forwardedFor }: RequestSource): boolean {
  return host !== null && isLoopbackName(hostName(host)) && !forwardedFor
}

/** True for a loopback address, IPv4 or IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address)
}

/** True if Fetch Metadata or Origin shows that the page of another site sent the request. */
export function isCrossSite({ host, origin, secFetchSite }: RequestSource): boolean {
  if (secFetchSite === 'cross-site' || secFetchSite === 'same-site') return true
  return origin !== null && URL.parse(origin)?.host !== host
}

/**
 * True if a Host is allowed for the program's own routes: a loopback name, an allowed name, or an address
 * literal, which DNS rebinding cannot use.
 */
export function isAllowedHost(host: string, allowedNames: readonly string[]): boolean {
  const name = hostName(host)
  return isLoopbackName(name) || isAddressLiteral(name) || allowedNames.includes(name)
}

/** True if an address to bind is reachable only from this machine. */
export function isLoopbackBind(address: string): boolean {
  return isLoopbackName(address.toLowerCase())
}

/** Host without its port and, for IPv6, without brackets; in lower case. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(host)
  return (bracketed?.[1] ?? host.replace(/:\d*$/, '')).toLowerCase()
}

function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  )
}

function isAddressLiteral(name: string): boolean {
  return isIP(name) !== 0
}
