/** Decides alone where `UPSTREAM_API_KEY` may go, by origin: scheme, host and port. */

export const upstreamKeyVariable = 'UPSTREAM_API_KEY'

/**
 * A variable in a gateway's environment: the only origin that may get `UPSTREAM_API_KEY` as the default
 * upstream. The dashboard sets it if the key is only for a named upstream. A gateway that is started by hand
 * uses the upstream of its start.
 */
const originVariable = 'TOKENWEIR_UPSTREAM_KEY_ORIGIN'

/** The variable that tells a gateway not to use the key in its environment for the default upstream. */
export const withheldFromDefault: Readonly<Record<string, string>> = { [originVariable]: 'none' }

/** True if the key may go to an upstream. `named`: the upstream that the key's owner set, or the default. */
export function mayHaveKey(upstream: string, named: string): boolean {
  const origin = originOf(upstream)
  return origin !== null && origin === originOf(named)
}

/** The key for the default upstream of a gateway with this environment; null if the upstream must not get it. */
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
