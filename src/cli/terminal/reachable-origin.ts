import { isIP } from 'node:net'

/** The origin at which this machine can reach a listener. */
export function reachableOrigin(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/** The origin of a listener for the clients of this machine: `http://localhost:9090`, unless it has one other address alone. */
export function clientOrigin(host: string, port: number): string {
  return /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?|localhost)$/.test(host)
    ? `http://localhost:${port}`
    : reachableOrigin(host, port)
}
