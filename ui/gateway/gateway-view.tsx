import './gateway.css'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { useLive } from '../data/live.ts'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { AlertsCard } from './alerts-card.tsx'
import { ClientsCard } from './clients-card.tsx'
import { DatabaseCard } from './database-card.tsx'
import { GatewaysCard } from './gateways-card.tsx'
import { LimitsCard } from './limits-card.tsx'
import { LogCard } from './log-card.tsx'
import { NowCard } from './now-card.tsx'
import { OptionsCard } from './options-card.tsx'
import { UpstreamsCard } from './upstreams-card.tsx'
import { StateCard } from './state-card.tsx'
import { useGatewayActions } from './use-gateway-actions.tsx'

const configEveryMs = 60_000

/** How the gateway is and how it is set up, with buttons to change both. */
export function GatewayView() {
  const status = useLive(({ status }) => status)
  const key = status === null ? null : versionOf(status)
  const path = (): string => '/api/proxy/config'
  const asked = useQuery<ProxyConfig>(key, path, { everyMs: configEveryMs })
  const { answer: config, trouble, put } = asked
  const actions = useGatewayActions(config)
  return (
    <div class="gateway-view">
      <div class="column">
        {status === null ? (
          <div class="skeleton" style={{ height: '22rem' }} />
        ) : (
          <>
            <StateCard status={status} config={config} actions={actions} />
            <NowCard status={status} />
            <AlertsCard />
            <GatewaysCard />
            <UpstreamsCard />
            <LimitsCard limits={status.health?.provider_limits ?? []} />
            <ClientsCard />
            <LogCard file={status.log_file} />
          </>
        )}
        <DatabaseCard />
      </div>
      <div class="column">
        {config !== null && <OptionsCard config={config} actions={actions} onSaved={put} />}
        {(config === null || trouble !== null) && <Awaited what="The options" {...asked} height="44rem" />}
      </div>
      {actions.dialog}
    </div>
  )
}

/** The part of the status that changes with the options: they are asked for anew when it does. */
function versionOf({ state, instance, upstream, health }: ProcessStatus): string {
  const { rate_limiter: limits, token_budget: budget } = health ?? {}
  const values = [state, instance, upstream, limits?.max_concurrent, limits?.slot_cooldown_ms]
  return JSON.stringify([...values, budget?.daily_limit])
}
