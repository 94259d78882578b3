import { BlockList, isIP } from 'node:net'
import { CodedError } from '../../lib/errors.ts'
import { isLoopbackBind } from '../../lib/http/request-source.ts'
import type { buildConnector } from 'undici'
import { Failure } from '../../call/failure.ts'

/** An HTTP proxy between the gateway and the upstream. */
export interface UpstreamProxy {
  /** The proxy's origin, without user and password. */
  readonly origin: string
  /** Value of `Proxy-Authorization`; `null` if the address has no user. */
  readonly authorization: string | null
  /** The environment variable with the proxy's address. */
  readonly variable: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy for an upstream, by `NO_PROXY` and by `HTTPS_PROXY` or `HTTP_PROXY` (for the upstream's scheme).
 * Variables in small letters count first. No proxy is used for this machine. Throws a `CodedError` if the address is
 * not that of an HTTP proxy.
 */
export function proxyFor(upstreamOrigin: string, env: Environment): UpstreamProxy | null {
  const upstream = new URL(upstreamOrigin)
  const host = upstream.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isLoopbackBind(host)) return null
  const name = upstream.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const variable = isSet(env[name.toLowerCase()]) ? name.toLowerCase() : name
  const address = env[variable] ?? ''
  const port = upstream.port === '' ? (upstream.protocol === 'https:' ? '443' : '80') : upstream.port
  if (!isSet(address) || isExempt(host, port, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return null
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CodedError('invalid_proxy', `${variable} is not the http or https address of a proxy`)
  }
  const user = bytesOf(`${url.username}:${url.password}`)
  const authorization = user.length === 1 ? null : `Basic ${user.toString('base64')}`
  return { origin: url.origin, authorization, variable }
}

/** The bytes of percent-encoded ASCII. A percent sign that begins no escape is a character, as for curl. */
function bytesOf(encoded: string): Buffer {
  const decode = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
  return Buffer.from(encoded.replaceAll(/%([\da-f]{2})/gi, decode), 'latin1')
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/**
 * True if `NO_PROXY` exempts a host. The list has `*`, names (with all their subdomains), addresses and
 * ranges (`10.0.0.0/8`); an entry may have a port.
 */
function isExempt(host: string, port: string, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '' || entry === '*') return entry === '*'
      if (entry.includes('/')) return isInRange(host, entry)
      const [, name = '', onPort] =
        /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? []
      if (onPort !== undefined && onPort !== port) return false
      const suffix = name.replace(/^\*?\./, '')
      return host === suffix || host.endsWith(`.${suffix}`)
    })
}

function isInRange(host: string, range: string): boolean {
  const [network = '', prefix] = range.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix ?? '')) return false
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), kind)
  return list.check(host, kind)
}

/** The failure of a call that the proxy did not let through. */
export function proxyFailure(proxy: UpstreamProxy, reason: string, cause?: unknown): Failure {
  const message = `The upstream cannot be reached through the proxy ${proxy.origin} (${proxy.variable}): ${reason}.`
  return new Failure('upstream_unreachable', message, { cause })
}

/** A connector that opens connections through a proxy by CONNECT (RFC 9110 §9.3.6). `connect` then adds TLS. */
export function tunnelConnector(
  proxy: UpstreamProxy,
  connect: buildConnector.connector,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    // undici removes the brackets of an IPv6 address.
    const host = isIP(target.hostname) === 6 ? `[${target.hostname}]` : target.hostname
    const authority = `${host}:${target.port === '' ? 443 : target.port}`
    const builtin = proxy.origin.startsWith('https:') ? 'node:https' : 'node:http'
    const { request: send } = process.getBuiltinModule(builtin)
    const headers = {
      host: authority,
      ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }),
    }
    // No agent: Node's default agent may be configured to use the same proxy.
    const request = send(proxy.origin, { method: 'CONNECT', path: authority, headers, agent: false })
    const fail = (reason: string, cause?: unknown): void => {
      callback(proxyFailure(proxy, reason, cause), null)
    }
    const tooLate = setTimeout(() => request.destroy(new Error('it did not answer in time')), timeoutMs)
    request.on('connect', ({ statusCode = 0, statusMessage = '' }, socket) => {
      clearTimeout(tooLate)
      if (statusCode >= 200 && statusCode < 300) {
        connect({ ...target, httpSocket: socket }, callback)
        return
      }
      socket.destroy()
      fail(`it answered ${statusCode} ${statusMessage}`.trimEnd())
    })
    request.on('error', (error) => {
      clearTimeout(tooLate)
      fail(error.message, error)
    })
    request.end()
  }
}
