import { Failure } from '../../call/failure.ts'

/** A request target, split but not decoded: the upstream gets these very characters. */
export interface Target {
  readonly path: string
  /** The query with its question mark; empty without one. */
  readonly query: string
}

/** The upstream's base URL, taken apart once. */
export interface UpstreamBase {
  readonly origin: string
  /** Host, with the port unless it is the scheme's default; the value of the column `upstream`. */
  readonly host: string
  /** Path of the base without a slash at its end; empty if the base has none. */
  readonly pathPrefix: string
  /** Parameters for every call, such as Azure's `api-version=preview`, without a question mark; usually empty. */
  readonly query: string
}

const plainPath = /^\/[\w\-.~!$&'()*+,;=:@/]*$/
const targetCharacters = /^[\x21\x22\x24-\x7e\x80-\xff]*$/

/**
 * Reads the request target (RFC 9112 §3.2): origin form, or path and query of the absolute form. Throws
 * `invalid_request` for a target that could leave the base after normalisation elsewhere: dot segments, also
 * escaped ones, backslashes, NUL and bad escapes.
 */
export function parseTarget(requestTarget: string): Target {
  const originForm = requestTarget.startsWith('/') ? requestTarget : stripAuthority(requestTarget)
  const queryAt = originForm.indexOf('?')
  const path = queryAt < 0 ? originForm : originForm.slice(0, queryAt)
  const query = queryAt < 0 ? '' : originForm.slice(queryAt)
  if (!plainPath.test(path) || path.includes('/.')) checkPath(path)
  if (!targetCharacters.test(query)) throw badTarget('holds characters that a request target may not hold')
  return { path, query }
}

function stripAuthority(requestTarget: string): string {
  const match = /^https?:\/\/[^/?#]+/i.exec(requestTarget)
  if (match === null) throw badTarget('is neither a path nor an http address')
  const rest = requestTarget.slice(match[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function checkPath(path: string): void {
  if (!targetCharacters.test(path)) throw badTarget('holds characters that a request target may not hold')
  if (/%(?![0-9a-f]{2})/i.test(path)) throw badTarget('holds a percent sign without two hexadecimal digits')
  const decoded = path.replaceAll(/%[0-9a-f]{2}/gi, decodeByte)
  if (decoded.includes('\0')) throw badTarget('holds a NUL')
  if (decoded.includes('\\')) throw badTarget('holds a backslash')
  if (decoded.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw badTarget('holds a dot segment')
  }
}

function badTarget(why: string): Failure {
  return new Failure('invalid_request', `The request target ${why}.`)
}

/** Prefix of the gateway's own routes. */
export const rawLogPath = '/v1/raw-log/'

/** Paths without `/v1` that are forwarded as well. */
const outsideV1: ReadonlySet<string> = new Set(['/rerank', '/reranking', '/v2/rerank', '/props'])

/**
 * The path that is forwarded for a path without the name of an upstream before it; null if it is not forwarded.
 * Clients whose base URL is a bare host send the path of the base, which becomes `/v1`.
 */
export function forwardedPath(base: UpstreamBase, path: string): string | null {
  if (path === '/v1/raw-log' || path.startsWith(rawLogPath)) return null
  if (path.startsWith('/v1/') || outsideV1.has(path)) return path
  const isBelowBase = base.pathPrefix !== '' && path.startsWith(`${base.pathPrefix}/`)
  return isBelowBase ? `/v1${path.slice(base.pathPrefix.length)}` : null
}

/** The Latin-1 character of a percent-encoded byte. */
export function decodeByte(escape: string): string {
  return String.fromCharCode(Number.parseInt(escape.slice(1), 16))
}

/** Reads the URL of an upstream. Throws a `TypeError` with the reason if it is no usable base URL. */
export function parseUpstreamBase(text: string): UpstreamBase {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('an http or https address is needed')
  }
  if (url.username !== '' || url.password !== '') throw new TypeError('credentials have no place in it')
  if (url.hash !== '') throw new TypeError('a fragment has no place in it')
  const { origin, host, pathname, search } = url
  return { origin, host, pathPrefix: pathname.replace(/\/+$/, ''), query: search.slice(1) }
}

/**
 * Path and query for the upstream. The base's path replaces `/v1`, or the `/v2` of a rerank, and is put
 * before other paths. A base without a path changes nothing. No byte is re-encoded.
 */
export function upstreamPath(base: UpstreamBase, { path, query }: Target): string {
  return pathAt(base, path) + (base.query === '' ? query : withParameters(query, base.query))
}

/** The path for the upstream, without the query. */
export function pathAt({ pathPrefix }: UpstreamBase, path: string): string {
  if (pathPrefix === '') return path
  return pathPrefix + (path.startsWith('/v1/') || path === '/v2/rerank' ? path.slice(3) : path)
}

/** A query with parameters added, except those that it already has. */
function withParameters(query: string, parameters: string): string {
  const nameOf = (pair: string): string => pair.split('=', 1)[0] ?? ''
  const names = new Set(query.slice(1).split('&').map(nameOf))
  const missing = parameters.split('&').filter((pair) => !names.has(nameOf(pair)))
  const all = query.length > 1 ? [query.slice(1), ...missing] : missing
  return all.length === 0 ? query : `?${all.join('&')}`
}
