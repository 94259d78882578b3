import './compare.css'
import { useMemo } from 'preact/hooks'
import { Swatch } from '../charts/chart-legend.tsx'
import { axisDuration } from '../charts/chart-scale.ts'
import type { ChartPanel } from '../charts/chart-series.ts'
import { type ColourName, coloursOf, mostGroups } from '../charts/palette.ts'
import { PanelPlot } from '../charts/time-chart.tsx'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { orderOf } from '../data/changed-address.ts'
import {
  type CompareBy,
  type PageAddress,
  callsQuery,
  byWords,
  curveWords,
  filterOf,
  namelessOf,
} from '../data/page-address.ts'
import { type CompareColumnName, compareColumnNames } from '../data/sorted-columns.ts'
import { boundsOf, refreshEveryMs } from '../data/page-range.ts'
import { report } from '../data/report.ts'
import { useQuery } from '../data/use-query.ts'
import { Card } from '../design/card.tsx'
import { Awaited } from '../design/awaited.tsx'
import { NoCallsCard } from '../empty-states/no-calls.tsx'
import { Segments } from '../design/form/segments.tsx'
import { type Column, Table } from '../design/table/table.tsx'
import { ByChoice } from '../filters/by-choice.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { orDash } from '../format/figures.ts'
import {
  type CompareColumn,
  type CompareGroup,
  compareColumns,
  curveFrame,
  curveOf,
  medianAt,
} from './compare-figures.ts'

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

/** The columns of figures, in order. */
const columns = compareColumnNames.map((name): Column<CompareGroup, CompareColumnName> => {
  const { words, title, class: className, value, show }: CompareColumn = compareColumns[name]
  return {
    head: words,
    title,
    class: className,
    sort: [name, value],
    cell: (group) => orDash(value(group), show),
  }
})

const linesAtFirst = 3
const rowsAtFirst = 20

type Shown = Pick<PageAddress, 'measure' | 'order' | 'rising' | 'lines'>

interface ComparisonProps {
  readonly by: CompareBy
  readonly groups: readonly CompareGroup[]
  /** The curves shown, and the order of the table. */
  readonly shown: Shown
  readonly onShow: (change: Partial<Shown & Pick<PageAddress, 'by'>>) => void
}

/** Percentile curves of the chosen groups, and a table of all groups. */
export function Comparison({ by, groups, shown, onShow }: ComparisonProps) {
  const { measure, rising } = shown
  const order = orderOf('compare', shown)
  const { tags } = useNavigation().address
  const nameOf = ({ key }: CompareGroup): string => key ?? namelessOf(by)
  const busiest = groups.toSorted((a, b) => b.calls - a.calls)
  const chosen = shown.lines.filter((line) => groups.some(({ key }) => lineOf(key) === line))
  const lines = chosen.length > 0 ? chosen : busiest.slice(0, linesAtFirst).map(({ key }) => lineOf(key))
  const colours = coloursOf(
    lines,
    groups.map(({ key }) => lineOf(key)),
  )
  const colourOf = (key: string | null): ColourName | undefined => colours.get(lineOf(key))
  const toggle = (line: string): void => {
    const others = lines.filter((candidate) => candidate !== line)
    const next = others.length < lines.length ? others : [...lines, line].slice(-mostGroups)
    // The last curve cannot be hidden.
    if (next.length > 0) onShow({ lines: next })
  }
  const panel = useMemo((): ChartPanel => {
    const series = lines.flatMap((line) => {
      const group = groups.find(({ key }) => lineOf(key) === line)
      const colour = colours.get(line)
      if (group === undefined || colour === undefined) return []
      return [curveOf(group, measure, nameOf(group), colour)]
    })
    const axis = measure === 'output_tokens_per_s' ? String : axisDuration
    return { frame: curveFrame, series, heightPx: 240, linear: { leastTop: 1 }, axis }
  }, [groups, lines.join('\0'), measure, by])
  const name: Column<CompareGroup> = {
    head: byWords(by),
    class: 'cut',
    cell: (group) => (
      <>
        <input
          type="checkbox"
          aria-label={`Draw ${nameOf(group)}`}
          checked={colourOf(group.key) !== undefined}
          style={{ accentColor: `var(--${colourOf(group.key) ?? 'accent'})` }}
          onChange={() => toggle(lineOf(group.key))}
        />
        <AddressLink
          class={group.key === null ? 'quiet' : ''}
          title={nameOf(group)}
          to={
            group.key === null
              ? null
              : { view: 'calls', sort: 'started_at', ...filterOf(by, group.key, tags) }
          }
        >
          {nameOf(group)}
        </AddressLink>
      </>
    ),
  }
  return (
    <>
      <Card
        title="Percentiles"
        about="successful calls"
        actions={
          <Segments
            label="Measure"
            words={curveWords}
            chosen={measure}
            onChoose={(next) => onShow({ measure: next })}
          />
        }
      >
        <div class="chart-legend row wraps">
          {panel.series.map((curve) => (
            <span key={curve.key} title={curve.words}>
              <Swatch series={curve} />
              <span class="cut">{curve.words}</span>
            </span>
          ))}
        </div>
        <PanelPlot
          panel={panel}
          isLog
          shown={panel.series}
          label={`${curveWords[measure]} by percentile`}
          hasTimes
          to={null}
          atFirst={medianAt}
          empty="Too few calls to compare"
        />
      </Card>
      <Card
        title={`By ${byWords(by).toLowerCase()}`}
        about="check a box to draw its line"
        actions={
          report === null && (
            <ByChoice label="Compare" by={by} onChoose={(next) => onShow({ by: next, lines: [] })} />
          )
        }
      >
        <Table
          caption={`Calls by ${byWords(by).toLowerCase()}`}
          class="compare-table has-links"
          columns={[name, ...columns]}
          rows={busiest}
          keyOf={({ key }) => key ?? '\0'}
          order={{ name: order, rising, onOrder: (order, rising) => onShow({ order, rising }) }}
          most={rowsAtFirst}
        />
      </Card>
    </>
  )
}

/** Returns a group's name in the address: empty for the group without a key. */
const lineOf = (key: string | null): string => key ?? ''
