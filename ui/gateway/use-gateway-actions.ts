import { useState } from 'preact/hooks'
import { actions } from '../data/dashboard-api.ts'
import { type GatewayAction, actionsOf } from './gateway-words.ts'
import { setStatus, useLive } from '../data/live.ts'
import { type Action, useAction } from '../data/use-action.ts'

/** State and handlers of the buttons that start, stop and restart the gateway. */
export interface GatewayActions extends Pick<Action, 'trouble' | 'forgetTrouble'> {
  /** The action that this page waits for. */
  readonly busy: GatewayAction | null
  /** The action to be confirmed. */
  readonly asked: GatewayAction | null
  readonly canDo: (action: GatewayAction) => boolean
  /** Starts at once, and asks before anything that ends calls. */
  readonly press: (action: GatewayAction) => void
  readonly confirm: () => void
  readonly dismiss: () => void
}

/** Starts, stops and restarts the gateway. The page shows the result by the status that the dashboard answers, never before. */
export function useGatewayActions(): GatewayActions {
  const status = useLive(({ status }) => status)
  const [last, setLast] = useState<GatewayAction>('start')
  const [asked, setAsked] = useState<GatewayAction | null>(null)
  const { isBusy, trouble, run, forgetTrouble } = useAction()
  const canDo = (action: GatewayAction): boolean =>
    status !== null && !isBusy && actionsOf(status).includes(action)
  const act = (action: GatewayAction): void => {
    setLast(action)
    void run(async () => setStatus(await actions[action]()))
  }
  return {
    busy: isBusy ? last : null,
    trouble,
    forgetTrouble,
    asked,
    canDo,
    press: (action) => {
      if (!canDo(action)) return
      if (action === 'start') act(action)
      else setAsked(action)
    },
    confirm: () => {
      setAsked(null)
      if (asked !== null) act(asked)
    },
    dismiss: () => setAsked(null),
  }
}
