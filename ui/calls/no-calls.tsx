import type { CallsAnswer } from '../data/dashboard-api.ts'
import { FirstCallGuide, ActionLink, isUnreadable, useNothingFound } from '../empty-states/no-calls.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { counted } from '../format/figures.ts'

/** The reason that a list is empty, with links to lists that are not. */
export function NoCalls({ answer }: { readonly answer: CallsAnswer }) {
  const emptyState = useNothingFound()
  const { summary, resolution } = answer
  if (isUnreadable(answer)) return <EmptyState title="Could not read the database">{answer.note}</EmptyState>
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
        title={`${counted(summary.calls, 'call')} in this range ${summary.calls === 1 ? 'is' : 'are'} kept as totals only`}
        actions={
          <ActionLink to={{ view: 'overview', call: null, sort: 'started_at' }} words="Open Overview" />
        }
      >
        Older calls are rolled up to save space. Overview still has their figures.
      </EmptyState>
    )
  }
  return (
    <EmptyState title={emptyState.title} actions={emptyState.ways}>
      {emptyState.why}
    </EmptyState>
  )
}
