import type { CallsAnswer } from '../data/dashboard-api.ts'
import { useNavigation } from '../data/navigation.tsx'
import { type CompareBy, callsQuery } from '../data/page-address.ts'
import { boundsOf, refreshEveryMs } from '../data/page-range.ts'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { NoCallsCard } from '../empty-states/no-calls.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import type { CompareGroup } from './compare-figures.ts'
import { Comparison } from './comparison.tsx'

type CompareAnswer = Pick<CallsAnswer, 'available_models' | 'available_types' | 'store' | 'note'> & {
  readonly group_by: CompareBy
  readonly groups: readonly CompareGroup[]
  readonly summary: { readonly calls: number }
}

/** The view that compares models, clients, upstreams or tags by speed, failures and cost. */
export function CompareView() {
  const { address, go } = useNavigation()
  const query = useQuery<CompareAnswer>(
    (nowMs) => {
      const parameters = { group_by: address.by, measures: 'curves' }
      return `/api/query?${callsQuery(address, boundsOf(address, nowMs), parameters)}`
    },
    { everyMs: refreshEveryMs(address.range) },
  )
  const { answer, isStale, isRefused } = query
  return (
    <>
      <FilterBar query={query} />
      <div class={`view stack ${isStale ? 'is-stale' : ''}`} aria-busy={isStale}>
        {answer === null || isRefused ? (
          <Awaited what="the comparison" {...query} height="40rem" />
        ) : answer.summary.calls === 0 ? (
          <NoCallsCard answer={answer} />
        ) : (
          <Comparison by={answer.group_by} groups={answer.groups} shown={address} onShow={go} />
        )}
      </div>
    </>
  )
}
