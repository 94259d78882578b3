import '../design/columns-view.css'
import './settings.css'
import { ClientsCard } from './clients-card.tsx'
import { DatabaseCard } from './database-card.tsx'
import { OptionsCard } from './options-card.tsx'
import { SignInCard } from './sign-in-card.tsx'

/** The view of the gateway's options, the limits of clients, the database, and the sign-in of this browser. */
export function SettingsView() {
  return (
    <div class="columns-view stack">
      <div class="column stack">
        <OptionsCard />
      </div>
      <div class="column stack">
        <ClientsCard />
        <DatabaseCard />
        <SignInCard />
      </div>
    </div>
  )
}
