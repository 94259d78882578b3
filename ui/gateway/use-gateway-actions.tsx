import { useState } from 'preact/hooks'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { act } from '../data/dashboard-api.ts'
import { setStatus, useLive } from '../data/live.ts'
import { useAction } from '../data/use-action.ts'
import { ConfirmDialog } from '../design/overlay/confirm.tsx'
import { type GatewayAction, actionsOf, consequencesOf } from './gateway-text.ts'

/** The state and handlers of the buttons that start, stop and restart the gateway. */
export type GatewayActions = ReturnType<typeof useGatewayActions>

/** Returns the actions on the gateway. The page shows their result only when the dashboard reports the new status. */
export function useGatewayActions(config: ProxyConfig | null) {
  const status = useLive(({ status }) => status)
  const [last, setLast] = useState<GatewayAction>('start')
  const [askedAction, setAskedAction] = useState<GatewayAction | null>(null)
  const { isBusy, error, run, forgetError } = useAction()
  const canDo = (action: GatewayAction): boolean =>
    status !== null && !isBusy && actionsOf(status).includes(action)
  const perform = (action: GatewayAction): void => {
    setAskedAction(null)
    setLast(action)
    void run(async () => setStatus(await act('POST', `/api/proxy/${action}`)))
  }
  const word = askedAction === 'stop' ? 'Stop' : 'Restart'
  return {
    /** The action that the page waits for; null if none. */
    busy: isBusy ? last : null,
    error,
    forgetError,
    canDo,
    /** Starts the gateway at once, or opens the dialog before an action that ends calls. */
    press: (action: GatewayAction): void => {
      if (!canDo(action)) return
      if (action === 'start') perform(action)
      else setAskedAction(action)
    },
    /** The dialog; null if nothing is to be confirmed. */
    dialog:
      status === null || askedAction === null ? null : (
        <ConfirmDialog
          title={`${word} the gateway?`}
          yes={word}
          isHarmless={askedAction === 'restart'}
          points={consequencesOf(askedAction, status, config)}
          onYes={() => perform(askedAction)}
          onNo={() => setAskedAction(null)}
        />
      ),
  }
}
