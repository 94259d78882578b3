import { useRef, useState } from 'preact/hooks'
import { DashboardError, reasonOf } from './dashboard-error.ts'

/** An action on the dashboard, of which one runs at a time. */
export interface Action {
  readonly isBusy: boolean
  /** The error of the last attempt; null once another attempt begins. */
  readonly error: DashboardError | null
  /** Runs the action, unless one is running. Never rejects. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  /** Runs the action after all earlier ones, so that none is lost. */
  readonly runInTurn: (work: () => Promise<unknown>) => Promise<void>
  readonly forgetError: () => void
}

/** Returns an action with its state and error. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<DashboardError | null>(null)
  const isRunning = useRef(false)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (error) {
      setError(error instanceof DashboardError ? error : new DashboardError(reasonOf(error)))
    } finally {
      isRunning.current = false
      setBusy(false)
    }
  }
  const last = useRef(Promise.resolve())
  const runInTurn = (work: () => Promise<unknown>): Promise<void> =>
    (last.current = last.current.then(() => run(work)))
  return { isBusy, error, run, runInTurn, forgetError: () => setError(null) }
}
