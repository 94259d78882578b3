import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { FirstCallGuide, Way, isUnreadable, useNothingFound } from '../no-calls/no-calls.tsx'
import { Nothing } from '../design/nothing.tsx'
import { counted } from '../format/figures.ts'
import type { CallList } from './use-call-list.ts'

/** Says why a list is empty, and leads out of it. */
export function NoCalls({ answer }: { readonly answer: CallsAnswer }) {
  const found = useNothingFound()
  const { summary, resolution } = answer
  if (isUnreadable(answer)) return <Nothing title="The database cannot be read">{answer.note}</Nothing>
  if (answer.available_types.length === 0) {
    return (
      <Nothing title="No calls yet">
        <FirstCallGuide />
      </Nothing>
    )
  }
  if (summary.calls > 0 && resolution !== undefined) {
    return (
      <Nothing
        title={`${counted(summary.calls, 'call')} of this time ${summary.calls === 1 ? 'is' : 'are'} kept as sums alone`}
        actions={
          <Way to={{ view: 'overview', call: null, sort: 'started_at' }} words="Show them in Overview" />
        }
      >
        They were folded away when the database was made smaller. Overview still tells their figures.
      </Nothing>
    )
  }
  return (
    <Nothing title={found.title} actions={found.ways}>
      {found.why}
    </Nothing>
  )
}

/** In place of a list that the dashboard did not answer with. */
export function NoList({ list }: { readonly list: CallList }) {
  const { trouble, error, again } = list
  const { address } = useNavigation()
  const unfolded = error?.code === 'folded_range' ? error.data['from'] : undefined
  if (unfolded === undefined) {
    return (
      <div role="alert">
        <Nothing title="The calls could not be listed" actions={<Button onClick={again}>Try again</Button>}>
          {trouble}
        </Nothing>
      </div>
    )
  }
  const fromMs = Date.parse(unfolded)
  const toMs = address.range.last === null ? Math.max(address.range.toMs, fromMs + 1) : nowMs()
  return (
    <Nothing
      title="Part of this time is kept as sums alone"
      actions={
        <>
          <Way to={{ range: { last: null, fromMs, toMs } }} words="Begin where calls are kept" />
          {isFiltered(address) && <Way to={withoutFilters(address)} words="Clear filters" />}
        </>
      }
    >
      Older calls were folded into sums of hours, which do not tell what these filters ask for.
    </Nothing>
  )
}
