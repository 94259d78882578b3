import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { actions } from '../data/dashboard-api.ts'
import { setStatus, useLive } from '../data/live.ts'
import { type Action, useAction } from '../data/use-action.ts'
import { ConfirmDialog } from '../design/confirm.tsx'
import { type GatewayAction, actionsOf, consequencesOf } from './gateway-words.ts'

/** State and handlers of the buttons that start, stop and restart the gateway. */
export interface GatewayActions extends Pick<Action, 'trouble' | 'forgetTrouble'> {
  /** The action that this page waits for. */
  readonly busy: GatewayAction | null
  readonly canDo: (action: GatewayAction) => boolean
  /** Starts at once, and asks before anything that ends calls. */
  readonly press: (action: GatewayAction) => void
  /** Asks; null while nothing is to be confirmed. */
  readonly dialog: JSX.Element | null
}

/** Starts, stops and restarts the gateway. The page shows the result by the status that the dashboard answers, never before. */
export function useGatewayActions(config: ProxyConfig | null): GatewayActions {
  const status = useLive(({ status }) => status)
  const [last, setLast] = useState<GatewayAction>('start')
  const [asked, setAsked] = useState<GatewayAction | null>(null)
  const { isBusy, trouble, run, forgetTrouble } = useAction()
  const canDo = (action: GatewayAction): boolean =>
    status !== null && !isBusy && actionsOf(status).includes(action)
  const act = (action: GatewayAction): void => {
    setAsked(null)
    setLast(action)
    void run(async () => setStatus(await actions[action]()))
  }
  const word = asked === 'stop' ? 'Stop' : 'Restart'
  return {
    busy: isBusy ? last : null,
    trouble,
    forgetTrouble,
    canDo,
    press: (action) => {
      if (!canDo(action)) return
      if (action === 'start') act(action)
      else setAsked(action)
    },
    dialog:
      status === null || asked === null ? null : (
        <ConfirmDialog
          title={`${word} the gateway?`}
          yes={word}
          points={consequencesOf(asked, status, config)}
          onYes={() => act(asked)}
          onNo={() => setAsked(null)}
        />
      ),
  }
}
