import { useCallback, useMemo, useState } from 'preact/hooks'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { useAnswer } from '../data/use-answer.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** The gateway's options, as far as they are known. */
export interface KnownConfig {
  readonly config: ProxyConfig | null
  /** Why the last question for them came to nothing. */
  readonly trouble: string | null
  readonly again: () => void
  /** Takes over what a change has answered. */
  readonly take: (config: ProxyConfig) => void
}

const everyMs = 60_000

/** Asks for the options, and again whenever the gateway's status tells that they may be others. */
export function useConfig(status: ProcessStatus | null): KnownConfig {
  const { answer, answeredMs, trouble, again } = useAnswer<ProxyConfig>(
    status === null ? null : versionOf(status),
    () => '/api/proxy/config',
    { everyMs },
  )
  const [taken, setTaken] = useState<readonly [ProxyConfig, number] | null>(null)
  const take = useCallback((config: ProxyConfig) => setTaken([config, nowMs()]), [])
  const isTakenNewer = taken !== null && taken[1] >= (answeredMs ?? 0)
  const config = isTakenNewer ? taken[0] : answer
  return useMemo(() => ({ config, trouble, again, take }), [config, trouble, again, take])
}

/** What of the status changes with the options. */
function versionOf({ state, instance, upstream, health }: ProcessStatus): string {
  const { rate_limiter: limits, token_budget: budget } = health ?? {}
  const values = [state, instance, upstream, limits?.max_concurrent, limits?.slot_cooldown_ms]
  return JSON.stringify([...values, budget?.daily_limit])
}
