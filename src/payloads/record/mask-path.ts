import { maskKeys, secretMark } from '../../secrets/key-shapes.ts'
import { isSecretParameter } from '../../secrets/secret-headers.ts'

/** The parameter `k` is a key if its value has at least this many characters; else it is a count. */
const shortestUnnamed = 8

/** Returns a path with its query, or any URL, with masked credentials. */
export function maskPath(path: string): string {
  const query = path.indexOf('?')
  return maskKeys(
    query < 0 ? path : path.slice(0, query + 1) + path.slice(query + 1).replace(/[^?&;#\s]+/g, maskParameter),
  )
}

function maskParameter(parameter: string): string {
  const equals = parameter.indexOf('=')
  if (equals < 0 || equals === parameter.length - 1) return parameter
  const name = parameter.slice(0, equals)
  const isSecret = isSecretParameter(name) || (name === 'k' && parameter.length - equals > shortestUnnamed)
  return isSecret ? parameter.slice(0, equals + 1) + secretMark : parameter
}
