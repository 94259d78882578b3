import './compare.css'
import { useMemo, useState } from 'preact/hooks'
import { curvePercentiles } from '../../src/call/call-question.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import {
  type CompareBy,
  boundsOf,
  callsQuery,
  compareWords,
  filterOf,
  namelessWords,
  questionKey,
  refreshEveryMs,
} from '../data/page-address.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Icon } from '../design/icon.tsx'
import { explained } from '../design/meanings.ts'
import { NoCallsCard } from '../no-calls/no-calls.tsx'
import { Note } from '../design/note.tsx'
import { Segments } from '../design/segments.tsx'
import { Table } from '../design/table.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { count, known } from '../format/figures.ts'
import {
  type ColumnName,
  type CompareColumn,
  type CompareGroup,
  type CurveMeasure,
  compareColumns,
  curveMeasures,
  honestCurve,
  lineColours,
  sortedBy,
} from './compare-figures.ts'
import { CurvePlot } from './curve-plot.tsx'

type CompareAnswer = Pick<CallsAnswer, 'available_models' | 'available_types' | 'store' | 'note'> & {
  readonly groups: readonly CompareGroup[]
  readonly summary: { readonly calls: number }
}

/** Models, clients or upstreams beside one another: who is slow, who fails, who costs. */
export function CompareView() {
  const { address } = useNavigation()
  const asked = useAnswer<CompareAnswer, { readonly path: string; readonly by: CompareBy }>(
    questionKey(address, address.by),
    () => {
      const { fromMs, toMs } = boundsOf(address.range, nowMs())
      const rest = { group_by: address.by, measures: 'curves' }
      return { by: address.by, path: `/api/query?${callsQuery(address, fromMs, toMs, rest)}` }
    },
    { everyMs: refreshEveryMs(address.range) },
  )
  const { answer, question, trouble, isStale, again } = asked
  // Until the next answer comes these are still the groups of the one before.
  const by = question?.by ?? address.by
  return (
    <>
      <FilterBar asked={asked} />
      <div class={`view ${isStale ? 'is-stale' : ''}`} aria-busy={isStale}>
        {answer === null && trouble === null && <div class="skeleton" style={{ height: '40rem' }} />}
        {answer === null && trouble !== null && (
          <Note tone="bad" onRetry={again}>
            What was asked cannot be told: {trouble}
          </Note>
        )}
        {answer !== null &&
          (answer.summary.calls === 0 ? (
            <NoCallsCard answer={answer} />
          ) : (
            // What is chosen of models means nothing among clients.
            <Comparison key={by} by={by} groups={answer.groups} />
          ))}
      </div>
    </>
  )
}

const linesAtFirst = 3
const rowsAtFirst = 20

/** Groups beside one another: percentile curves of those that are chosen, and a table of all. */
export function Comparison({
  by,
  groups,
}: {
  readonly by: CompareBy
  readonly groups: readonly CompareGroup[]
}) {
  const { go } = useNavigation()
  const [column, sortBy] = useState<ColumnName>('calls')
  const [measure, setMeasure] = useState<CurveMeasure>('duration_ms')
  const [isWhole, setWhole] = useState(false)
  const [chosen, choose] = useState<readonly (string | null)[] | null>(null)
  const rows = useMemo(() => sortedBy(groups, column), [groups, column])
  const lines =
    chosen ??
    sortedBy(groups, 'calls')
      .slice(0, linesAtFirst)
      .map(({ key }) => key)
  const colourOf = (key: string | null): string | null => {
    const at = lines.indexOf(key)
    return at < 0 ? null : (lineColours[at] ?? null)
  }
  const toggle = (key: string | null): void => {
    if (lines.includes(key)) choose(lines.filter((one) => one !== key))
    else choose([...lines, key].slice(-lineColours.length))
  }
  const curves = lines.flatMap((key) => {
    const group = groups.find((one) => one.key === key)
    const colour = colourOf(key)
    if (group === undefined || colour === null) return []
    return [
      { words: key ?? namelessWords[by], colour, values: honestCurve(group, measure, curvePercentiles) },
    ]
  })
  const measureWords = Object.fromEntries(
    Object.entries(curveMeasures).map(([name, { words }]) => [name, words]),
  ) as Record<CurveMeasure, string>
  return (
    <>
      <Card
        title="Percentile by percentile"
        about="calls that succeeded"
        actions={<Segments label="Measure" words={measureWords} chosen={measure} onChoose={setMeasure} />}
      >
        <div class="chart-legend">
          {curves.map(({ words, colour }) => (
            <span key={words}>
              <span class="swatch" style={{ color: `var(--${colour})` }} />
              {words}
            </span>
          ))}
        </div>
        <CurvePlot measure={measure} percentiles={curvePercentiles} curves={curves} />
      </Card>
      <Card
        title={`By ${compareWords[by].toLowerCase()}`}
        about="press a heading to sort, a box to draw its line"
        actions={
          <Segments label="Compare" words={compareWords} chosen={by} onChoose={(next) => go({ by: next })} />
        }
      >
        <Table
          caption={`Calls by ${compareWords[by].toLowerCase()}`}
          class="compare-table"
          columns={[
            compareWords[by],
            ...columnNames.map((name) => {
              const { words, title, class: className } = columnOf(name)
              return {
                words: (
                  <button
                    type="button"
                    {...explained(words, title)}
                    aria-pressed={name === column}
                    onClick={() => sortBy(name)}
                  >
                    {words}
                    {name === column && <Icon name="fall" size={12} />}
                  </button>
                ),
                ...(className !== undefined && { class: className }),
              }
            }),
          ]}
        >
          <tbody>
            {(isWhole ? rows : rows.slice(0, rowsAtFirst)).map((group) => (
              <tr key={group.key ?? '\0'}>
                <th scope="row">
                  <input
                    type="checkbox"
                    aria-label={`Line of ${group.key ?? namelessWords[by]}`}
                    checked={lines.includes(group.key)}
                    style={{ accentColor: `var(--${colourOf(group.key) ?? 'accent'})` }}
                    onChange={() => toggle(group.key)}
                  />
                  {group.key === null ? (
                    <span class="quiet">{namelessWords[by]}</span>
                  ) : (
                    <AddressLink
                      class="compare-name"
                      title={group.key}
                      to={{ view: 'calls', sort: 'started_at', ...filterOf(by, group.key) }}
                    >
                      {group.key}
                    </AddressLink>
                  )}
                </th>
                {columnNames.map((name) => {
                  const { value, show, class: className } = columnOf(name)
                  return (
                    <td key={name} class={className}>
                      {known(value(group), show)}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </Table>
        {rows.length > rowsAtFirst && (
          <Button kind="bare" small onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Only the first ${rowsAtFirst}` : `Show all ${count(rows.length)}`}
          </Button>
        )}
      </Card>
    </>
  )
}

const columnNames = Object.keys(compareColumns) as ColumnName[]
const columnOf = (name: ColumnName): CompareColumn => compareColumns[name]
