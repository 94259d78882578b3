import { useEffect, useRef, useState } from 'preact/hooks'
import type { RepriceResult } from '../../src/api/costs.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { useLive } from '../data/live.ts'
import { costActions } from './cost-actions.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** Calls that had no price are looked for at least so far back. */
const farMs = 30 * 86_400_000

/** What pricing the past anew would do, looked for whenever prices have changed. */
export interface RepriceOffer {
  /** Null where nothing was looked for, or it could not be told. */
  readonly found: RepriceResult | null
  /** The time that was looked through. */
  readonly far: Bounds
  /** Whether it is being done, whoever began it. */
  readonly isRepricing: boolean
  readonly forget: () => void
}

/** Looks, changes nothing, and tells when somebody has. */
export function useRepriceOffer(
  changes: number,
  bounds: Bounds,
  zone: string,
  onRepriced: () => void,
): RepriceOffer {
  const repricing = useLive(({ repricing }) => repricing)
  const [found, setFound] = useState<RepriceResult | null>(null)
  const far = { fromMs: Math.min(bounds.fromMs, bounds.toMs - farMs), toMs: bounds.toMs }
  useEffect(() => {
    if (changes === 0) return
    let isHere = true
    const question = { ...far, toMs: Math.max(far.toMs, nowMs()), onlyUnpriced: true, model: null, zone }
    costActions.previewReprice(question).then(
      (result) => isHere && setFound(result),
      () => isHere && setFound(null),
    )
    return () => {
      isHere = false
    }
  }, [changes])
  const isRepricing = repricing?.state === 'running' && !repricing.dry_run
  const wasRepricing = useRef(isRepricing)
  // Also where its dialog was closed meanwhile, and where somebody else began it.
  useEffect(() => {
    if (wasRepricing.current && !isRepricing) {
      setFound(null)
      onRepriced()
    }
    wasRepricing.current = isRepricing
  }, [isRepricing])
  return { found, far, isRepricing, forget: () => setFound(null) }
}
