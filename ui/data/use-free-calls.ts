import { useMemo } from 'preact/hooks'
import type { CostMatches } from '../../src/api/costs.ts'
import { type FreeCalls, type UnpricedModel, freeCalls, matchesPath } from './free-calls.ts'
import { useNavigation } from './navigation.tsx'
import { boundsOf, refreshEveryMs } from './page-range.ts'
import { useQuery } from './use-query.ts'

const none: readonly UnpricedModel[] = []

/** Returns which of a view's unpriced calls nobody bills; none until it is known. `listed` are some of its models. */
export function useFreeCalls(unpriced: number, listed: readonly UnpricedModel[] = none): FreeCalls {
  const { address } = useNavigation()
  const { answer } = useQuery<CostMatches>(
    unpriced > 0 ? (nowMs) => matchesPath(boundsOf(address, nowMs)) : null,
    { everyMs: refreshEveryMs(address.range) },
  )
  return useMemo(
    () => freeCalls(unpriced, listed, answer, address.models),
    [unpriced, listed, answer, address.models],
  )
}
