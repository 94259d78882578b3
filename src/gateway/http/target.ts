import { Failure } from '../../call/failure.ts'
import type { CallType } from '../../call/call.ts'

/** A request target, split but not decoded: what the upstream will see is made of these very characters. */
export interface Target {
  readonly path: string
  /** With its question mark; empty where there is none. */
  readonly query: string
}

/** How a path on the gateway is treated. */
export interface ForwardedPath {
  /** The known path that this is, however it is written; empty for one that is not known. */
  readonly name: string
  readonly callType: CallType
  /** Its body is read whole before it queues, and peeked at; other bodies are streamed through. */
  readonly inference: boolean
}

/** The upstream's base URL, taken apart once. */
export interface UpstreamBase {
  readonly origin: string
  /** Host with the port where it is not the scheme's own; what the `upstream` column shows. */
  readonly host: string
  /** Path of the base without a slash at its end; empty where the base has none. */
  readonly pathPrefix: string
}

const plainPath = /^\/[\w\-.~!$&'()*+,;=:@/]*$/
const targetCharacters = /^[\x21\x22\x24-\x7e\x80-\xff]*$/

/**
 * Reads the request target (RFC 9112 §3.2): origin form, or absolute form of which only path and query count.
 * Throws `invalid_request` for everything that could leave the base after another party's normalisation:
 * dot segments, also escaped ones, backslashes, NUL and bad escapes.
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

const props: ForwardedPath = { name: '', callType: 'props', inference: false }
const other: ForwardedPath = { name: '', callType: 'other', inference: false }

const forwardedPaths: ReadonlyMap<string, ForwardedPath> = new Map([
  ...known('chat', '/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages'),
  ...known('embedding', '/v1/embeddings'),
  ...known('rerank', '/v1/rerank', '/v1/reranking', '/rerank', '/reranking'),
  ...known('props', '/v1/models', '/v1/props', '/props'),
])

function known(callType: CallType, ...names: readonly string[]): [string, ForwardedPath][] {
  return names.map((name) => [name, { name, callType, inference: callType !== 'props' }])
}

/** What is under it is the gateway's own. */
export const rawLogPath = '/v1/raw-log/'

/** How this path is forwarded, or `null` where it is not. Only a POST infers: a CORS preflight is no chat. */
export function forwardedPath(path: string, method: string): ForwardedPath | null {
  const known = knownPath(path)
  return known?.inference === true && method !== 'POST' ? other : known
}

/** How a path is treated behind the name of an upstream: there everything is forwarded. */
export function pathOfUpstream(path: string, method: string): ForwardedPath {
  return forwardedPath(path, method) ?? other
}

function knownPath(path: string): ForwardedPath | null {
  const exact = forwardedPaths.get(path)
  if (exact !== undefined) return exact
  if (!path.startsWith('/v1/') || path.startsWith(rawLogPath) || path === '/v1/raw-log') return null
  const same = forwardedPaths.get(asUpstreamsReadIt(path))
  if (same !== undefined) return same
  return path.startsWith('/v1/models/') ? props : other
}

/** Upstreams differ in what they take for the same path; what any of them does must not pass unseen. */
function asUpstreamsReadIt(path: string): string {
  const decoded = path.replaceAll(/%[0-9a-f]{2}/gi, decodeByte)
  return decoded
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .toLowerCase()
}

function decodeByte(escape: string): string {
  return String.fromCharCode(Number.parseInt(escape.slice(1), 16))
}

/** Reads `--upstream`. Throws a `TypeError` with the reason where it is no usable base URL. */
export function parseUpstreamBase(text: string): UpstreamBase {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('an http or https address is needed')
  }
  if (url.username !== '' || url.password !== '') throw new TypeError('credentials have no place in it')
  if (url.search !== '' || url.hash !== '') throw new TypeError('query and fragment have no place in it')
  return { origin: url.origin, host: url.host, pathPrefix: url.pathname.replace(/\/+$/, '') }
}

/**
 * The path that the upstream is asked for: the base's own path takes the place of `/v1`, and stands before
 * the paths that have none; a base without a path changes nothing. A concatenation, so no byte is re-encoded.
 */
export function upstreamPath(base: UpstreamBase, target: Target): string {
  if (base.pathPrefix === '') return target.path + target.query
  const rest = target.path.startsWith('/v1/') ? target.path.slice(3) : target.path
  return base.pathPrefix + rest + target.query
}
