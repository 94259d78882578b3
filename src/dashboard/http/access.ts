import { hostName, isAllowedHost, isCrossSite, type RequestSource } from '../../lib/http/request-source.ts'
import { pagePaths } from './page-assets.ts'
import { RequestError } from './request-error.ts'

/** The parts of a request that decide whether it is allowed. */
export interface Access extends RequestSource {
  /** True if root or the dashboard's user sent the request on this machine, not through a proxy. */
  readonly isLocal: boolean
  readonly method: string
  /** The target of the request line. */
  readonly target: string
  /** The values of all Host headers. */
  readonly hosts: readonly string[]
  readonly secFetchMode: string | null
  readonly via: string | null
}

/** The rules of access. */
export interface AccessRules {
  /** Allowed host names in addition to loopback names and addresses. */
  readonly allowedHosts: readonly string[]
  /** True if every request needs the admin token, because other machines can reach the dashboard. */
  readonly demandsToken: boolean
  /** True if an admin token is set. */
  readonly tokenIsSet: boolean
  /** Paths that need no token, such as the sign-in. */
  readonly openPaths: ReadonlySet<string>
}

const plainAuthority = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i

/**
 * Why a request is refused; null if it is allowed. The check runs before anything else is read, for known and
 * unknown paths. `hasToken` is called only if the result depends on it.
 */
export function refusalOf(access: Access, rules: AccessRules, hasToken: () => boolean): RequestError | null {
  const { hosts, method, target, via } = access
  const [host] = hosts
  if (host === undefined || hosts.length > 1 || !plainAuthority.test(host)) {
    return new RequestError('invalid_host', 'A request must have one Host header: a name or an address.')
  }
  // After DNS rebinding, a page still sends its own host name.
  if (!isAllowedHost(host, rules.allowedHosts)) {
    const name = hostName(host)
    const message = `The host name ${name} is not allowed; allow it with --allow-host ${name}.`
    return new RequestError('forbidden_host', message)
  }
  // Other forms of a target contain a host, which these checks would miss.
  const [path = ''] = target.split('?', 1)
  if (!path.startsWith('/') || path.includes('\\')) {
    return new RequestError('invalid_target', 'The request target must be a path.')
  }
  const isReading = method === 'GET' || method === 'HEAD'
  const isLink = isReading && access.secFetchMode === 'navigate' && pagePaths.includes(path)
  // Pages of other sites may link to the dashboard, but may send no other requests.
  if (isCrossSite(access) && !isLink) {
    return new RequestError('cross_site', "The dashboard refuses requests from other sites' pages.")
  }
  // A client of the gateway must not reach the dashboard through it.
  if (via !== null && /tokenweir-/i.test(via)) {
    return new RequestError('forwarded_by_gateway', 'The dashboard cannot be used through the gateway.')
  }
  if (!mustBringToken(access, rules)) return null
  if (!rules.tokenIsSet) {
    const message =
      "The dashboard is open to this machine's root and to the user who runs it. Others need the admin token; " +
      'set TOKENWEIR_ADMIN_TOKEN to have one.'
    return new RequestError('token_not_set', message)
  }
  if (rules.openPaths.has(path) || hasToken()) return null
  const message =
    'The admin token is missing or wrong, or too many wrong ones came within a minute; ' +
    'send it as x-tokenweir-admin-token, or sign in on the page.'
  return new RequestError('token_required', message)
}

/** True if a request needs the admin token: only programs of this machine's owner need none. */
export function mustBringToken(access: Access, rules: AccessRules): boolean {
  return rules.demandsToken || !access.isLocal
}
