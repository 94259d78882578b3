import { useState } from 'preact/hooks'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { actions } from '../data/dashboard-api.ts'
import { setStatus, useLive } from '../data/live.ts'
import { Trouble, reasonOf } from '../data/trouble.ts'
import { type GatewayAction, actionsOf } from '../data/gateway-words.ts'

/** What the buttons that start, stop and restart the gateway go by. */
export interface GatewayActions {
  /** What this page is having it do. */
  readonly busy: GatewayAction | null
  /** Why the last of it came to nothing. */
  readonly trouble: Trouble | null
  /** What is to be confirmed. */
  readonly asked: GatewayAction | null
  readonly canDo: (action: GatewayAction) => boolean
  /** Starts at once, and asks before anything that ends calls. */
  readonly press: (action: GatewayAction) => void
  readonly confirm: () => void
  readonly dismiss: () => void
  readonly forgetTrouble: () => void
}

/** What is done is shown when it is done: by the status that the dashboard answers, never before. */
export function useGatewayActions(): GatewayActions {
  const status = useLive(({ status }) => status)
  const [busy, setBusy] = useState<GatewayAction | null>(null)
  const [asked, setAsked] = useState<GatewayAction | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)

  const canDo = (action: GatewayAction): boolean =>
    status !== null && busy === null && actionsOf(status).includes(action)

  const act = async (action: GatewayAction): Promise<void> => {
    setBusy(action)
    setTrouble(null)
    try {
      const status: ProcessStatus = await actions[action]()
      setStatus(status)
    } catch (error) {
      setTrouble(error instanceof Trouble ? error : new Trouble(reasonOf(error)))
    } finally {
      setBusy(null)
    }
  }

  return {
    busy,
    trouble,
    asked,
    canDo,
    press: (action) => {
      if (!canDo(action)) return
      if (action === 'start') void act(action)
      else setAsked(action)
    },
    confirm: () => {
      setAsked(null)
      if (asked !== null) void act(asked)
    },
    dismiss: () => setAsked(null),
    forgetTrouble: () => setTrouble(null),
  }
}
