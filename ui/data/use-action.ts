import { useRef, useState } from 'preact/hooks'
import { DashboardError, reasonOf } from './dashboard-error.ts'

/** Actions on the dashboard, which run one after the other, so that none is lost. */
export interface Action {
  readonly isBusy: boolean
  /** The error of the last attempt; null once another attempt begins. */
  readonly error: DashboardError | null
  /** Runs the action after all earlier ones. Never rejects. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  readonly forgetError: () => void
}

/** Returns the state and the error of actions, and a function that runs them. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<DashboardError | null>(null)
  const last = useRef(Promise.resolve())
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (error) {
      setError(error instanceof DashboardError ? error : new DashboardError(reasonOf(error)))
    } finally {
      setBusy(false)
    }
  }
  const run = (work: () => Promise<unknown>): Promise<void> =>
    (last.current = last.current.then(() => attempt(work)))
  return { isBusy, error, run, forgetError: () => setError(null) }
}
