import type { CallsAnswer } from '../data/dashboard-api.ts'
import { FirstCallGuide, Way, isUnreadable, useNothingFound } from '../no-calls/no-calls.tsx'
import { Nothing } from '../design/nothing.tsx'
import { counted } from '../format/figures.ts'

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
