import './compare.css'
import { useMemo } from 'preact/hooks'
import { Swatch } from '../charts/chart-legend.tsx'
import { axisDuration } from '../charts/chart-scale.ts'
import type { ChartPanel } from '../charts/chart-series.ts'
import { coloursOf, mostGroups } from '../charts/palette.ts'
import { PanelPlot } from '../charts/time-chart.tsx'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { orderOf } from '../data/changed-address.ts'
import {
  type CompareBy,
  type PageAddress,
  byWords,
  curveWords,
  filterOf,
  groupWords,
  idOf,
} from '../data/page-address.ts'
import { type CompareColumnName, compareColumnNames } from '../data/sorted-columns.ts'
import { report } from '../data/report.ts'
import { Card } from '../design/card.tsx'
import { Segments } from '../design/form/segments.tsx'
import { type Column, Table } from '../design/table/table.tsx'
import { ByChoice } from '../filters/by-choice.tsx'
import { orDash } from '../format/figures.ts'
import {
  type CompareColumn,
  type CompareGroup,
  compareColumns,
  curveFrame,
  curveOf,
  medianAt,
} from './compare-figures.ts'

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
  const nameOf = (group: CompareGroup): string => groupWords(by, group)
  const busiest = groups.toSorted((a, b) => b.calls - a.calls)
  const chosen = shown.lines.filter((line) => groups.some((group) => idOf(group) === line))
  const lines = chosen.length > 0 ? chosen : busiest.slice(0, linesAtFirst).map(idOf)
  const colours = coloursOf(lines, groups.map(idOf))
  const toggle = (line: string): void => {
    const others = lines.filter((candidate) => candidate !== line)
    const next = others.length < lines.length ? others : [...lines, line].slice(-mostGroups)
    // The last curve cannot be hidden.
    if (next.length > 0) onShow({ lines: next })
  }
  const panel = useMemo((): ChartPanel => {
    const series = lines.flatMap((line) => {
      const group = groups.find((group) => idOf(group) === line)
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
    cell: (group) => {
      const colour = colours.get(idOf(group))
      const filter = filterOf(by, group, tags)
      return (
        <>
          <input
            type="checkbox"
            aria-label={`Draw ${nameOf(group)}`}
            checked={colour !== undefined}
            style={{ accentColor: `var(--${colour ?? 'accent'})` }}
            onChange={() => toggle(idOf(group))}
          />
          <AddressLink
            class={filter ? '' : 'quiet'}
            title={nameOf(group)}
            to={filter && { view: 'calls', sort: 'started_at', ...filter }}
          >
            {nameOf(group)}
          </AddressLink>
        </>
      )
    },
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
          keyOf={idOf}
          order={{ name: order, rising, onOrder: (order, rising) => onShow({ order, rising }) }}
          most={rowsAtFirst}
        />
      </Card>
    </>
  )
}
