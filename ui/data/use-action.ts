import { useRef, useState } from 'preact/hooks'
import { DashboardError, reasonOf } from './dashboard-error.ts'

/** An action of the dashboard, one at a time. */
export interface Action {
  readonly isBusy: boolean
  /** Why the last attempt failed; null once another one has begun. */
  readonly error: DashboardError | null
  /** Does nothing while the last attempt is under way. Never rejects. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  /** Runs the action after earlier ones have ended, so that none is lost. */
  readonly runInTurn: (work: () => Promise<unknown>) => Promise<void>
  readonly forgetError: () => void
}

/** Runs actions, and follows their state and errors. */
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
