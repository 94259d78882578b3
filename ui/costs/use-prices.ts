import { useEffect, useRef, useState } from 'preact/hooks'
import type { CostMatches, Costs } from '../../src/api/costs.ts'
import type { PageAddress } from '../data/page-address.ts'
import { reasonOf } from '../data/trouble.ts'
import { useAnswer } from '../data/use-answer.ts'
import { refreshEveryMs } from '../filters/refresh-every.ts'
import { costActions } from './cost-actions.ts'
import { matchesPath, spendBounds } from './spend-question.ts'
import { nowMs } from '../data/dashboard-clock.ts'

const calmEveryMs = 60_000
const runningEveryMs = 700

/** The prices in force, those that the calls met, and the sync. */
export interface Prices {
  readonly costs: Costs | null
  readonly matches: CostMatches | null
  /** Why prices, or what the calls met, cannot be had. */
  readonly trouble: string | null
  readonly isSyncing: boolean
  /** Why the last press came to nothing. */
  readonly syncTrouble: string | null
  readonly sync: () => void
  /** How often a sync or a price was finished on this page: there may be calls that can be priced now. */
  readonly changes: number
  /** A price was set, or taken away. */
  readonly onChanged: () => void
  readonly again: () => void
}

/** Follows prices as they change. */
export function usePrices(address: PageAddress, isPaused: boolean): Prices {
  const [isPressed, setPressed] = useState(false)
  const [syncTrouble, setSyncTrouble] = useState<string | null>(null)
  const [changes, setChanges] = useState(0)
  const finished = useRef<string | null | undefined>(undefined)
  const [isFast, setFast] = useState(false)
  const costs = useAnswer<Costs>('costs', () => '/api/costs', {
    everyMs: isFast ? runningEveryMs : calmEveryMs,
  })
  const matches = useAnswer<CostMatches>(
    JSON.stringify(address.range),
    () => matchesPath(spendBounds(address, nowMs())),
    { everyMs: refreshEveryMs(address.range), isPaused },
  )
  const onChanged = (): void => {
    setChanges((before) => before + 1)
    costs.again()
    matches.again()
  }
  const sync = costs.answer?.sync
  const isRunning = sync?.state === 'running'
  useEffect(() => {
    if (sync === undefined) return
    setFast(isRunning)
    if (isRunning) return
    // However soon it was over, and whoever began it.
    if (finished.current !== undefined && finished.current !== sync.finished_at) onChanged()
    finished.current = sync.finished_at
  }, [isRunning, sync?.finished_at])
  const begin = async (): Promise<void> => {
    if (isPressed || isRunning) return
    setPressed(true)
    setSyncTrouble(null)
    try {
      await costActions.sync()
      setFast(true)
      costs.again()
    } catch (error) {
      setSyncTrouble(reasonOf(error))
    } finally {
      setPressed(false)
    }
  }
  return {
    costs: costs.answer,
    matches: matches.answer,
    trouble: costs.answer === null ? costs.trouble : matches.answer === null ? matches.trouble : null,
    isSyncing: isPressed || isRunning,
    syncTrouble,
    sync: () => void begin(),
    changes,
    onChanged,
    again: () => {
      costs.again()
      matches.again()
    },
  }
}
