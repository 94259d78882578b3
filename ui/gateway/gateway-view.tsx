import '../design/columns-view.css'
import './gateway.css'
import { useLive } from '../data/live.ts'
import { GatewaysCard } from './gateways-card.tsx'
import { LimitsCard } from './limits-card.tsx'
import { LogCard } from './log-card.tsx'
import { NowCard } from './now-card.tsx'
import { UpstreamsCard } from './upstreams-card.tsx'
import { StateCard } from './state-card.tsx'
import { useGatewayActions } from './use-gateway-actions.tsx'
import { useGatewayConfig } from './use-gateway-config.ts'

/** The view of the gateway's state, current load, upstreams and log. */
export function GatewayView() {
  const status = useLive(({ status }) => status)
  const { answer: config } = useGatewayConfig()
  const actions = useGatewayActions(config)
  if (status === null) return <div class="skeleton" style={{ height: '22rem' }} />
  return (
    <div class="columns-view stack">
      <div class="column stack">
        <StateCard status={status} config={config} actions={actions} />
      </div>
      <div class="column stack">
        <NowCard status={status} />
        <GatewaysCard />
        <LimitsCard limits={status.health?.provider_limits ?? []} />
      </div>
      <div class="column wide stack">
        <UpstreamsCard />
        <LogCard file={status.log_file} />
      </div>
      {actions.dialog}
    </div>
  )
}
