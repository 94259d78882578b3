import { hostname, networkInterfaces } from 'node:os'

const loopback =
  /^(?:localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|::1?|::ffff:7f[\da-f]{2}:[\da-f]+|::ffff:0:0)$/

/** True if a URL leads to one of these ports of this machine, under any of the machine's names. */
export function isOwnAddress(text: string, ports: readonly number[]): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (port === 0 || !ports.includes(port)) return false
  const name = url.hostname.replace(/^\[|\]$|\.$/g, '')
  return (
    loopback.test(name) ||
    name === hostname().toLowerCase() ||
    Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === name))
  )
}
