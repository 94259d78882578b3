import { useState } from 'preact/hooks'
import type { Overview } from '../../src/api/overview.ts'
import { RankedList } from '../charts/ranked-list.tsx'
import { useNavigation } from '../data/navigation.tsx'
import { callsQuery } from '../data/page-address.ts'
import { unpricedWords } from '../data/free-calls.ts'
import { useQuery } from '../data/use-query.ts'
import { Card } from '../design/card.tsx'
import { Segments } from '../design/form/segments.tsx'
import { counted } from '../format/figures.ts'
import type { OverviewBodyProps } from './overview-body.tsx'
import { type FailedGroup, type ModelMeasure, failedRows, modelRows, usualMeasure } from './rankings.ts'

const measureWords = { cost: 'Cost', tokens: 'Tokens', cached: 'Cached', calls: 'Calls' }

/** The models by cost, tokens, cached input or calls. */
export function ModelsCard({ answer: { models, totals }, free }: Pick<OverviewBodyProps, 'answer' | 'free'>) {
  const [chosen, setChosen] = useState<ModelMeasure | null>(null)
  const measure = chosen ?? usualMeasure(models ?? [])
  if (models === null) return <UntoldCard title="By model" />
  const rows = modelRows(models, measure, totals, free?.models ?? null)
  const { unpriced_calls: unpriced } = totals
  return (
    <Card
      title="By model"
      about={measure === 'cost' && unpriced > 0 ? unpricedWords(unpriced, free?.calls ?? null) : undefined}
      actions={<Segments label="Compare by" words={measureWords} chosen={measure} onChoose={setChosen} />}
    >
      {rows.length === 0 ? (
        <p class="nothing-here quiet">No usage reported.</p>
      ) : (
        <RankedList rows={rows} colour={measure === 'cost' ? 'cost' : 'p50'} />
      )}
    </Card>
  )
}

const failedByWords = {
  failure_code: 'Cause',
  status: 'Status',
  model: 'Model',
  upstream_name: 'Upstream',
}

/** Failed calls by cause, status, model or upstream. */
export function FailuresCard({ answer }: { readonly answer: Overview }) {
  const { failures, totals, from, to } = answer
  const { address } = useNavigation()
  const [by, failedBy] = useState<keyof typeof failedByWords>('failure_code')
  const failed = { ...address, errorsOnly: true }
  const time = { fromMs: Date.parse(from), toMs: Date.parse(to) }
  const query = useQuery<{ readonly group_by: string; readonly groups: readonly FailedGroup[] }>(
    by === 'failure_code'
      ? null
      : `/api/query?${callsQuery(failed, time, { group_by: by, measures: 'none' })}`,
  )
  // The last answer stays until the next one comes, unless its key differs.
  const groups = query.answer?.group_by === by ? query.answer.groups : null
  if (failures === null) return <UntoldCard title="Why calls failed" />
  const byCause = failures.map(({ failure_code: key, calls }) => ({ key, calls }))
  const rows = failedRows((by === 'failure_code' ? byCause : groups) ?? [], totals.errors, by)
  return (
    <Card
      title="Why calls failed"
      about={counted(totals.errors, 'call')}
      actions={<Segments label="Failures by" words={failedByWords} chosen={by} onChoose={failedBy} />}
    >
      {query.error !== null && <p class="nothing-here quiet">{query.error}</p>}
      {totals.errors === 0 ? (
        <p class="nothing-here quiet">No failed calls in this range.</p>
      ) : (
        <RankedList rows={rows} colour="bad" />
      )}
    </Card>
  )
}

/** The text in place of a list that rolled-up calls cannot give with the current filters. */
function UntoldCard({ title }: { readonly title: string }) {
  return (
    <Card title={title}>
      <p class="nothing-here quiet">
        Older calls in this range are kept as totals only, which cannot be split like this with these filters.
      </p>
    </Card>
  )
}
