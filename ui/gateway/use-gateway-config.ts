import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { useLive } from '../data/live.ts'
import { type QueryWithPut, useQuery } from '../data/use-query.ts'

const everyMs = 60_000

/** The gateway's options, loaded again when its status has another version of them. */
export function useGatewayConfig(): QueryWithPut<ProxyConfig> {
  const version = useLive(({ status }) => (status === null ? null : versionOf(status)))
  return useQuery<ProxyConfig>(version, () => '/api/proxy/config', { everyMs })
}

/** The part of the status that changes with the options. */
function versionOf({ state, instance, upstream, health }: ProcessStatus): string {
  const { rate_limiter: limits, token_budget: budget } = health ?? {}
  const values = [state, instance, upstream, limits?.max_concurrent, limits?.slot_cooldown_ms]
  return JSON.stringify([...values, budget?.daily_limit])
}
