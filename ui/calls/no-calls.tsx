import type { CallsAnswer } from '../data/dashboard-api.ts'
import { FirstCallGuide, ActionLink, isUnreadable, useNothingFound } from '../empty-states/no-calls.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { counted } from '../format/figures.ts'

/** Says why a list is empty, and leads out of it. */
export function NoCalls({ answer }: { readonly answer: CallsAnswer }) {
  const found = useNothingFound()
  const { summary, resolution } = answer
  if (isUnreadable(answer)) return <EmptyState title="The database cannot be read">{answer.note}</EmptyState>
  if (answer.available_types.length === 0) {
    return (
      <EmptyState title="No calls yet">
        <FirstCallGuide />
      </EmptyState>
    )
  }
  if (summary.calls > 0 && resolution !== undefined) {
    return (
      <EmptyState
        title={`${counted(summary.calls, 'call')} of this time ${summary.calls === 1 ? 'is' : 'are'} kept as sums alone`}
        actions={
          <ActionLink
            to={{ view: 'overview', call: null, sort: 'started_at' }}
            words="Show them in Overview"
          />
        }
      >
        They were folded away when the database was made smaller. Overview still tells their figures.
      </EmptyState>
    )
  }
  return (
    <EmptyState title={found.title} actions={found.ways}>
      {found.why}
    </EmptyState>
  )
}
