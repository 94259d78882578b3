import { useMemo } from 'preact/hooks'
import type { CostMatches } from '../../src/api/costs.ts'
import { type FreeCalls, type UnpricedModel, freeCalls, matchesPath } from './free-calls.ts'
import { useNavigation } from './navigation.tsx'
import { boundsOf, refreshEveryMs } from './page-range.ts'
import { useQuery } from './use-query.ts'

const none: readonly UnpricedModel[] = []

/**
 * Returns which of a view's unpriced calls nobody bills; null while this is requested, none if the request fails.
 * `listed` are some of its models.
 */
export function useFreeCalls(unpriced: number, listed: readonly UnpricedModel[] = none): FreeCalls | null {
  const { address } = useNavigation()
  const { answer, error, isStale } = useQuery<CostMatches>(
    unpriced > 0 ? (nowMs) => matchesPath(boundsOf(address, nowMs)) : null,
    { everyMs: refreshEveryMs(address.range) },
  )
  const isAwaited = unpriced > 0 && error === null && (answer === null || isStale)
  return useMemo(
    () => (isAwaited ? null : freeCalls(unpriced, listed, answer, address.models)),
    [isAwaited, unpriced, listed, answer, address.models],
  )
}
