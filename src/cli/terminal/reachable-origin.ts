import { isIP } from 'node:net'

/** The origin at which this machine can reach a listener. */
export function reachableOrigin(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}
