import { useEffect, useRef, useState } from 'preact/hooks'
import type { CostMatches, Costs } from '../../src/api/costs.ts'
import type { RepriceJob, RepriceResult } from '../../src/api/database-job.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { type PageAddress, refreshEveryMs } from '../data/page-address.ts'
import { matchesPath } from '../data/price-source.ts'
import { useAction } from '../data/use-action.ts'
import { useAnswer } from '../data/use-answer.ts'
import { spendBounds } from './spend-question.ts'

/** Chooses the calls that are priced anew. */
export interface RepriceQuestion extends Bounds {
  readonly onlyUnpriced: boolean
  readonly zone: string
}

/** Changes prices, and the costs of past calls. All reject with `DashboardError`. */
export const costActions = {
  /** Answers when it is under way: `GET /api/costs` tells the rest. */
  sync: (): Promise<unknown> => act('POST', '/api/costs/sync'),
  removePrice: (name: string): Promise<unknown> =>
    act('DELETE', `/api/costs/overrides/${encodeURIComponent(name)}`),
  /** Only looks. */
  previewReprice: (question: RepriceQuestion): Promise<RepriceResult> =>
    act('POST', '/api/costs/reprice', { ...bodyOf(question), dry_run: true }),
  /** Answers when it is under way: the topic `jobs` tells the rest. */
  reprice: (question: RepriceQuestion): Promise<RepriceJob> =>
    act('POST', '/api/costs/reprice', { ...bodyOf(question), dry_run: false }),
} as const

function bodyOf({ fromMs, toMs, onlyUnpriced, zone }: RepriceQuestion): object {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    ...(onlyUnpriced ? { only_unpriced: true } : {}),
    tz: zone,
  }
}

const calmEveryMs = 60_000
const runningEveryMs = 700

/** The prices in force, those that the calls met, and the sync. */
export interface Prices {
  readonly costs: Costs | null
  readonly matches: CostMatches | null
  /** Why the dashboard did not answer with prices, or with those that calls met. */
  readonly trouble: string | null
  readonly isSyncing: boolean
  /** Why the last press on Sync failed. */
  readonly syncTrouble: string | null
  readonly sync: () => void
  /** How often a sync or a price was finished on this page: there may be calls that can be priced now. */
  readonly changes: number
  /** A price was set, or removed. */
  readonly onChanged: () => void
  readonly again: () => void
}

/** Follows prices as they change. */
export function usePrices(address: PageAddress, isPaused: boolean): Prices {
  const { isBusy, trouble: syncTrouble, run } = useAction()
  const [changes, setChanges] = useState(0)
  const finished = useRef<string | null | undefined>(undefined)
  const [isFast, setFast] = useState(false)
  const costs = useAnswer<Costs>('costs', () => '/api/costs', {
    everyMs: isFast ? runningEveryMs : calmEveryMs,
  })
  const matches = useAnswer<CostMatches>(
    JSON.stringify(address.range),
    () => {
      const { fromMs, toMs } = spendBounds(address, nowMs())
      return matchesPath(fromMs, toMs)
    },
    { everyMs: refreshEveryMs(address.range), isPaused },
  )
  const again = (): void => {
    costs.again()
    matches.again()
  }
  const onChanged = (): void => {
    setChanges((before) => before + 1)
    again()
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
    await costActions.sync()
    setFast(true)
    costs.again()
  }
  // Of another time than was asked for they would be taken for what they are not.
  const met = matches.isStale && matches.trouble !== null ? null : matches.answer
  return {
    costs: costs.answer,
    matches: met,
    trouble: costs.answer === null ? costs.trouble : met === null ? matches.trouble : null,
    isSyncing: isBusy || isRunning,
    syncTrouble: syncTrouble?.message ?? null,
    sync: () => {
      if (!isRunning) void run(begin)
    },
    changes,
    onChanged,
    again,
  }
}

/** Calls that had no price are looked for at least so far back. */
const farMs = 30 * 86_400_000

/** Calls that can be priced since prices have changed. */
export interface RepriceOffer {
  /** Null if nothing was looked for, or the dashboard did not answer. */
  readonly found: RepriceResult | null
  /** The time that was looked through. */
  readonly far: Bounds
  /** Past calls are being priced anew, whoever began it. */
  readonly isRepricing: boolean
  readonly forget: () => void
}

/** Looks what pricing the past anew would do whenever prices have changed, and calls back when somebody has done it. */
export function useRepriceOffer(
  changes: number,
  bounds: Bounds,
  zone: string,
  onRepriced: () => void,
): RepriceOffer {
  const isRepricing = useLive(({ repricing }) => repricing?.state === 'running' && !repricing.dry_run)
  const [found, setFound] = useState<RepriceResult | null>(null)
  const far = { fromMs: Math.min(bounds.fromMs, bounds.toMs - farMs), toMs: bounds.toMs }
  useEffect(() => {
    if (changes === 0) return
    let isHere = true
    const question = { ...far, toMs: Math.max(far.toMs, nowMs()), onlyUnpriced: true, zone }
    costActions.previewReprice(question).then(
      (result) => isHere && setFound(result),
      () => isHere && setFound(null),
    )
    return () => {
      isHere = false
    }
  }, [changes])
  const wasRepricing = useRef(isRepricing)
  // Also if its dialog was closed meanwhile, and if somebody else began it.
  useEffect(() => {
    if (wasRepricing.current && !isRepricing) {
      setFound(null)
      onRepriced()
    }
    wasRepricing.current = isRepricing
  }, [isRepricing])
  return { found, far, isRepricing, forget: () => setFound(null) }
}
