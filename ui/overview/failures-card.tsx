import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { failureCodeWords } from '../data/failure-words.ts'
import { RankedList } from '../charts/ranked-list.tsx'
import { Card } from '../design/card.tsx'
import { counted } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'
import { failureRows } from './rankings.ts'
import { UntoldCard } from './untold-card.tsx'

/** What went wrong how often. */
export function FailuresCard({ answer }: { readonly answer: Overview }): JSX.Element {
  const { failures, totals } = answer
  const rows = useMemo(() => failureRows(failures ?? [], totals.errors, failureCodeWords), [failures, totals])
  if (failures === null) return <UntoldCard title="Why calls failed" />
  return (
    <Card title="Why calls failed" about={counted(totals.errors, 'call')}>
      {rows.length === 0 ? (
        <p class="overview-nothing">No call failed.</p>
      ) : (
        <RankedList rows={rows} colour="bad" />
      )}
    </Card>
  )
}
