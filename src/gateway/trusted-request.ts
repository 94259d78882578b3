import type { RequestHead } from './request-head.ts'

/**
 * Whether a request comes from this very machine, under a loopback name and not through a proxy: what a web
 * page elsewhere, a rebound name (DNS rebinding) or another machine cannot bring about.
 */
export function isFromThisMachine(head: RequestHead, remoteAddress: string | undefined): boolean {
  return (
    isLoopbackAddress(remoteAddress) &&
    head.host !== null &&
    isLoopbackName(hostName(head.host)) &&
    !head.forwardedFor
  )
}

/** Whether a browser says that another site's page is behind this request, by Fetch Metadata or Origin. */
export function isCrossSite(head: RequestHead): boolean {
  if (head.secFetchSite === 'cross-site' || head.secFetchSite === 'same-site') return true
  return head.origin !== null && URL.parse(head.origin)?.host !== head.host
}

/**
 * Whether an own route may be asked for under this Host: loopback names, names that were allowed, and address
 * literals, which no name server can turn to somebody else's page.
 */
export function isAllowedHost(host: string, allowedNames: readonly string[]): boolean {
  const name = hostName(host)
  return isLoopbackName(name) || isAddressLiteral(name) || allowedNames.includes(name)
}

/** Host without its port and, for IPv6, without brackets; in lower case. */
function hostName(host: string): string {
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
  return name.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./.test(address))
}
