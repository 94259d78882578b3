import { useState } from 'preact/hooks'
import { Trouble, reasonOf } from './trouble.ts'

/** Something that the dashboard is told to do, one thing at a time. */
export interface Action {
  readonly isBusy: boolean
  /** Why the last attempt failed; null once another one has begun. */
  readonly trouble: Trouble | null
  /** Does nothing while the last attempt is under way. Never rejects. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  readonly forgetTrouble: () => void
}

/** Follows what a press has the dashboard do. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setTrouble(null)
    try {
      await work()
    } catch (error) {
      setTrouble(error instanceof Trouble ? error : new Trouble(reasonOf(error)))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, trouble, run, forgetTrouble: () => setTrouble(null) }
}
