import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { buildConnector } from 'undici'
import { Failure } from '../../call/failure.ts'
import type { UpstreamProxy } from './upstream-proxy.ts'

/** Opens connections through a proxy by CONNECT (RFC 9110 §9.3.6), on which `connect` then does TLS. */
export function tunnelConnector(
  proxy: UpstreamProxy,
  connect: buildConnector.connector,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    const authority = `${target.hostname}:${target.port === '' ? 443 : target.port}`
    const { protocol, hostname, port } = new URL(proxy.origin)
    const send = protocol === 'https:' ? httpsRequest : httpRequest
    const headers = {
      host: authority,
      ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }),
    }
    const address = { protocol, host: hostname.replace(/^\[(.*)\]$/, '$1'), port }
    // Not Node's agent, which may be told to use the same proxy for this.
    const request = send({ ...address, method: 'CONNECT', path: authority, headers, agent: false })
    const fail = (reason: string, cause?: unknown): void => {
      const message = `The upstream cannot be reached through the proxy ${proxy.origin} (${proxy.variable}): ${reason}.`
      callback(new Failure('upstream_unreachable', message, { cause }), null)
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
