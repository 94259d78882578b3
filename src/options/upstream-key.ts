/** Decides alone where `UPSTREAM_API_KEY` may go, by origin: scheme, host and port. */

export const upstreamKeyVariable = 'UPSTREAM_API_KEY'

/**
 * A variable beside the key in a gateway's environment: the only origin that may get it as the default upstream's key. The dashboard
 * sets it where the key is only for a named upstream. A gateway started by hand uses the upstream of that start.
 */
const originVariable = 'TOKENWEIR_UPSTREAM_KEY_ORIGIN'

/** Says to a gateway that its default upstream has no key, though the key is in its environment. */
export const withheldFromDefault: Readonly<Record<string, string>> = { [originVariable]: 'none' }

/** True if the key may go to an upstream, if `named` is the one that the key's owner named, or the built-in one. */
export function mayHaveKey(upstream: string, named: string): boolean {
  const origin = originOf(upstream)
  return origin !== null && origin === originOf(named)
}

/** The key for the default upstream of a gateway with this environment; null if it is to have none. */
export function keyOfDefault(
  upstream: string,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const key = env[upstreamKeyVariable] ?? ''
  const named = env[originVariable]
  return key === '' || (named !== undefined && !mayHaveKey(upstream, named)) ? null : key
}

function originOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null
}
