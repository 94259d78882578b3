import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { useLive } from '../data/live.ts'
import { type QueryWithPut, useQuery } from '../data/use-query.ts'

const everyMs = 60_000

/** Returns the gateway's options, which are loaded again after they change. */
export function useGatewayConfig(): QueryWithPut<ProxyConfig> {
  const version = useLive(({ status }) => (status === null ? '' : versionOf(status)))
  return useQuery<ProxyConfig>(version === '' ? null : '/api/proxy/config', { everyMs, version })
}

/** Returns the part of the status that changes when the options do. */
function versionOf({ state, instance, upstream, health }: ProcessStatus): string {
  const { rate_limiter: limits, token_budget: budget } = health ?? {}
  const values = [state, instance, upstream, limits?.max_concurrent, limits?.slot_cooldown_ms]
  return JSON.stringify([...values, budget?.daily_limit])
}
