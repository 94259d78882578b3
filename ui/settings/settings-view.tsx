import '../design/columns-view.css'
import './settings.css'
import { Awaited } from '../design/awaited.tsx'
import { useGatewayActions } from '../gateway/use-gateway-actions.tsx'
import { useGatewayConfig } from '../gateway/use-gateway-config.ts'
import { ClientsCard } from './clients-card.tsx'
import { DatabaseCard } from './database-card.tsx'
import { OptionsCard } from './options-card.tsx'
import { SignInCard } from './sign-in-card.tsx'

/** The view of the gateway's options, the limits of clients, the database, and the sign-in of this browser. */
export function SettingsView() {
  const { put, ...query } = useGatewayConfig()
  const { answer: config, error } = query
  const actions = useGatewayActions(config)
  return (
    <div class="columns-view stack">
      <div class="column stack">
        {config !== null && <OptionsCard config={config} actions={actions} onSaved={put} />}
        {(config === null || error !== null) && <Awaited what="the options" {...query} height="44rem" />}
      </div>
      <div class="column stack">
        <ClientsCard />
        <DatabaseCard />
        <SignInCard />
      </div>
      {actions.dialog}
    </div>
  )
}
