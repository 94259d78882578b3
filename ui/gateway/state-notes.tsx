import './state-notes.css'
import type { JSX } from 'preact'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { Icon } from '../design/icon.tsx'
import type { GatewayActions } from './use-gateway-actions.ts'

export interface StateNotesProps {
  readonly status: ProcessStatus
  readonly actions: GatewayActions
}

/** All that is not as it should be. */
export function StateNotes({ status, actions }: StateNotesProps): JSX.Element {
  const { message, health, simulated } = status
  const warnings = health?.warnings ?? []
  const { trouble, forgetTrouble } = actions
  const isToldTwice = trouble !== null && message?.includes(trouble.message) === true
  return (
    <div class="state-notes">
      {simulated && (
        <p class="note">
          <span>
            <strong>Simulated.</strong> The upstream is the demo’s own: no real model answers, and what it
            says is made up.
          </span>
        </p>
      )}
      {message !== null && !isToldTwice && (
        <p id="message" class="note warn">
          {message}
        </p>
      )}
      {warnings.length > 0 && (
        <ul id="warnings" class="note warn" aria-label="Warnings">
          {warnings.map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
      {trouble !== null && (
        <div id="trouble" class="note bad" role="alert">
          <div class="told">
            <p>{trouble.message}</p>
            <button
              type="button"
              class="button bare small icon"
              aria-label="Dismiss"
              title="Dismiss"
              onClick={forgetTrouble}
            >
              <Icon name="close" size={14} />
            </button>
          </div>
          {trouble.log.length > 0 && (
            <pre id="trouble-log" role="region" aria-label="The gateway’s last words" tabIndex={0}>
              {trouble.log.join('\n')}
            </pre>
          )}
        </div>
      )}
    </div>
  )
}
