import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { RankedList } from '../charts/ranked-list.tsx'
import { Card } from '../design/card.tsx'
import { Segments } from '../design/segments.tsx'
import { counted } from '../format/figures.ts'
import type { OverviewAnswer } from './overview-answer.ts'
import { type ModelMeasure, modelRows, usualMeasure } from './rankings.ts'

const choices: readonly { readonly choice: ModelMeasure; readonly words: string }[] = [
  { choice: 'cost', words: 'Cost' },
  { choice: 'tokens', words: 'Tokens' },
  { choice: 'calls', words: 'Calls' },
]

/** Which models the money, the tokens or the calls went to. */
export function ModelsCard({ answer: { models, totals } }: { readonly answer: OverviewAnswer }): JSX.Element {
  const [chosen, setChosen] = useState<ModelMeasure | null>(null)
  const measure = chosen ?? usualMeasure(models)
  const rows = useMemo(() => modelRows(models, measure), [models, measure])
  return (
    <Card
      title="By model"
      about={
        measure === 'cost' && totals.unpriced_calls > 0
          ? `${counted(totals.unpriced_calls, 'call')} without a price`
          : undefined
      }
      actions={<Segments label="Compare by" choices={choices} chosen={measure} onChoose={setChosen} />}
    >
      <RankedList rows={rows} colour={measure === 'cost' ? 'cost' : 'p50'} />
    </Card>
  )
}
