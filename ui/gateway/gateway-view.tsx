import './gateway-view.css'
import type { JSX } from 'preact'
import type { ViewProps } from '../data/view-props.ts'
import { useLive } from '../data/live.ts'
import { ConfirmDialog } from '../design/confirm-dialog.tsx'
import { DatabaseCard } from './database-card.tsx'
import { consequencesOf } from '../data/gateway-words.ts'
import { LogCard } from './log-card.tsx'
import { NowCard } from './now-card.tsx'
import { OptionsCard } from './options-card.tsx'
import { StateCard } from './state-card.tsx'
import { useConfig } from './use-config.ts'
import { useGatewayActions } from './use-gateway-actions.ts'

/** What the gateway is and does, how it is set up, and what can be done with it. */
export function GatewayView({ times, drafts, onDrafts }: ViewProps): JSX.Element {
  const status = useLive(({ status }) => status)
  const { config, trouble, again, take } = useConfig(status)
  const actions = useGatewayActions()
  return (
    <div class="gateway-view">
      <div class="column">
        {status === null ? (
          <div class="skeleton state-skeleton" />
        ) : (
          <>
            <StateCard status={status} config={config} actions={actions} times={times} />
            <NowCard health={status.health} />
            <LogCard file={status.log_file} />
          </>
        )}
        <DatabaseCard />
      </div>
      <div class="column">
        {config !== null && (
          <OptionsCard config={config} actions={actions} drafts={drafts} onDrafts={onDrafts} onSaved={take} />
        )}
        {config === null && trouble === null && <div class="skeleton options-skeleton" />}
        {trouble !== null && (
          <div class="note bad" role="alert">
            <p>The options cannot be read: {trouble}</p>
            <button type="button" class="button small" onClick={again}>
              Try again
            </button>
          </div>
        )}
      </div>
      {status !== null && (actions.asked === 'stop' || actions.asked === 'restart') && (
        <ConfirmDialog
          title={actions.asked === 'stop' ? 'Stop the gateway?' : 'Restart the gateway?'}
          yes={actions.asked === 'stop' ? 'Stop' : 'Restart'}
          points={consequencesOf(actions.asked, status, config)}
          onYes={actions.confirm}
          onNo={actions.dismiss}
        />
      )}
    </div>
  )
}
