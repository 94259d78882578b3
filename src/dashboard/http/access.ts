import { isAllowedHost, isCrossSite, type RequestSource } from '../../lib/http/request-source.ts'
import { pagePaths } from './page-assets.ts'
import { RequestError } from './request-error.ts'

/** The parts of a request that decide whether it is let in. */
export interface Access extends RequestSource {
  /** True if root or the dashboard's user sent it on this machine, through no proxy. */
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
  /** Names besides loopback ones and addresses. */
  readonly allowedHosts: readonly string[]
  /** The admin token is demanded of everybody: other machines can reach the dashboard. */
  readonly demandsToken: boolean
  /** There is an admin token. */
  readonly tokenIsSet: boolean
  /** Paths that need no token: those of the sign-in. */
  readonly openPaths: ReadonlySet<string>
}

const plainAuthority = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i

/**
 * Judges a request before anything else is read; null lets it in. `hasToken` is called
 * only if it matters. Whatever is not allowed is refused, on every path, known or not.
 */
export function refusalOf(access: Access, rules: AccessRules, hasToken: () => boolean): RequestError | null {
  const { hosts, method, target, via } = access
  const [host] = hosts
  if (host === undefined || hosts.length > 1 || !plainAuthority.test(host)) {
    return new RequestError('invalid_host', 'A request must have one Host header: a name or an address.')
  }
  // A page that a name server turned to this address (DNS rebinding) still comes under its own name.
  if (!isAllowedHost(host, rules.allowedHosts)) {
    const name = host.replace(/:\d+$/, '')
    const message = `The host name ${name} is not allowed; allow it with --allow-host ${name}.`
    return new RequestError('forbidden_host', message)
  }
  // Other forms of a target name a host of their own, which the checks here would miss.
  const [path = ''] = target.split('?', 1)
  if (!path.startsWith('/') || path.includes('\\')) {
    return new RequestError('invalid_target', 'The request target must be a path.')
  }
  const isReading = method === 'GET' || method === 'HEAD'
  const isLink = isReading && access.secFetchMode === 'navigate' && pagePaths.includes(path)
  // Other sites' pages may lead a person to the page; they may neither ask nor do anything themselves.
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
    'The admin token is missing or wrong; send it as x-tokenweir-admin-token, or sign in on the page.'
  return new RequestError('token_required', message)
}

/** Says if a request must bring the admin token: only this machine's own programs are let in without. */
export function mustBringToken(access: Access, rules: AccessRules): boolean {
  return rules.demandsToken || !access.isLocal
}
