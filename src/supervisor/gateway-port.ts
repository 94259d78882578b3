import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { HealthReport } from '../api/health-report.ts'
import { isHealthReport } from '../control/control-messages.ts'
import { readMessage } from '../lib/message-shape.ts'
import { readAtMost, request } from '../lib/http/http.ts'

/** More bytes than any health report has: another program on the port may send an endless answer. */
const maxReportBytes = 1024 ** 2

/** A port's answer to `GET /health`. */
export interface PortAnswer {
  /** `null` if no HTTP came in time. */
  readonly status: number | null
  /** `null` if no gateway answers. */
  readonly instance: string | null
  /** `null` if no gateway answers, or the gateway does not trust this process. */
  readonly report: HealthReport | null
}

/** Asks the process that listens at an address for `/health`. Never rejects. */
export async function askHealth(host: string, port: number, limitMs: number): Promise<PortAnswer> {
  const signal = AbortSignal.timeout(limitMs)
  // A gateway answers a loopback name on every address.
  const headers = { Host: 'localhost' }
  const req = request({ host: localName(host), port, path: '/health', agent: false, headers, signal })
  // The answer reports its errors itself.
  req.on('error', () => {}).end()
  try {
    const [response] = (await once(req, 'response')) as [IncomingMessage]
    const status = response.statusCode ?? null
    const instance = response.headers['x-tokenweir-instance']?.toString() ?? null
    const body = (await readAtMost(maxReportBytes, response)) ?? ''
    return { status, instance, report: readMessage(body, isHealthReport) }
  } catch {
    return { status: null, instance: null, report: null }
  } finally {
    req.destroy()
  }
}

/** True if any program listens at an address. Never rejects. */
export async function acceptsConnections(host: string, port: number, limitMs: number): Promise<boolean> {
  if (port === 0) return false
  const socket = connect({ host: localName(host), port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(limitMs) })
    return true
  } catch {
    return false
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

/** The host by which this machine reaches a listener, also one on all addresses. */
function localName(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? 'localhost' : host
}
