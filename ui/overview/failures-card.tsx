import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { failureCodeWords } from '../calls/failure-words.ts'
import { RankedList } from '../charts/ranked-list.tsx'
import { Card } from '../design/card.tsx'
import { counted } from '../format/figures.ts'
import type { OverviewAnswer } from './overview-answer.ts'
import { failureRows } from './rankings.ts'

/** What went wrong how often. */
export function FailuresCard({ answer }: { readonly answer: OverviewAnswer }): JSX.Element {
  const rows = useMemo(() => failureRows(answer, failureCodeWords), [answer])
  return (
    <Card title="Why calls failed" about={counted(answer.totals.errors, 'call')}>
      {rows.length === 0 ? (
        <p class="overview-nothing">No call failed.</p>
      ) : (
        <RankedList rows={rows} colour="bad" />
      )}
    </Card>
  )
}
