import { type CallSort, sortWords } from '../data/call-text.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useNavigation } from '../data/navigation.tsx'
import { useObservable } from '../data/observable.ts'
import { Icon } from '../design/icon.tsx'
import { Popover } from '../design/overlay/popover.tsx'
import { Segments } from '../design/form/segments.tsx'
import { OrderSelect } from '../design/table/order-select.tsx'
import { CheckList, PanelFoot } from '../filters/check-list.tsx'
import { FacetFilter } from '../filters/choice-filters.tsx'
import { counted } from '../format/figures.ts'
import { exportPath } from './calls-question.ts'
import { type CallsLayout, keptColumns } from './calls-layout.ts'
import { callColumns, columnNames, fixedColumns } from './chosen-columns.ts'

export interface CallsToolsProps extends CallsLayout {
  /** The number of calls that match the filters; null while unknown. */
  readonly total: number | null
}

/** The tools above the list: further filters, order, columns and export. */
export function CallsTools({ isNarrow, columns, total }: CallsToolsProps) {
  const { upstreams } = useNavigation().address
  const knowsSeveral = useLive(({ status }) => (status?.health?.upstreams?.length ?? 0) > 1)
  const hasUpstreams = knowsSeveral || upstreams.length > 0
  return (
    <div class="calls-tools row wraps">
      <FacetFilter of={{ client: [] }} label="Clients" none="Client" />
      <FacetFilter of={{ failure_code: [] }} label="Failures" none="Failure" />
      {hasUpstreams && <FacetFilter of={{ upstream_name: [] }} label="Upstreams" none="Upstream" />}
      <SortChoice isNarrow={isNarrow} />
      <div class="at-end">
        {!isNarrow && <ColumnsMenu columns={columns} />}
        <ExportMenu total={total} />
      </div>
    </div>
  )
}

const measureWords: Readonly<Record<CallSort, string>> = {
  started_at: 'Newest',
  duration: 'Slowest',
  ttft: 'First token',
  cost: 'Cost',
}
const orderTitles: Readonly<Record<CallSort, string>> = {
  started_at: 'Newest first',
  duration: 'Slowest first',
  ttft: 'Slowest first token first',
  cost: 'Most expensive first',
}

function SortChoice({ isNarrow }: Pick<CallsToolsProps, 'isNarrow'>) {
  const { address, go } = useNavigation()
  if (!isNarrow) {
    return (
      <Segments
        label="Order"
        words={measureWords}
        titles={orderTitles}
        chosen={address.rising ? null : address.sort}
        onChoose={(sort) => go({ sort, rising: false })}
      />
    )
  }
  const { sort, rising } = address
  return (
    <OrderSelect
      words={sortWords}
      order={sort}
      rising={rising}
      onOrder={(next, isRising) => go({ sort: next, rising: isRising })}
    />
  )
}

/** The menu of the table's columns. The choice is saved in this browser. */
function ColumnsMenu({ columns }: Pick<CallsToolsProps, 'columns'>) {
  const isOwnChoice = useObservable(keptColumns) !== null
  return (
    <Popover
      label="Columns"
      widthPx={240}
      words={
        <>
          <Icon name="columns" /> <span class="tool-words">Columns</span>
        </>
      }
    >
      {() => (
        <div class="filter-panel stack">
          <CheckList
            choices={columnNames.map((name) => ({
              choice: name,
              words: callColumns[name].words,
              title: callColumns[name].title,
              isFixed: fixedColumns.has(name),
            }))}
            chosen={columns}
            onChoose={(chosen) => keptColumns.set(columnNames.filter((name) => chosen.includes(name)))}
            hasOnly={false}
          />
          <PanelFoot clear="Automatic" isClear={!isOwnChoice} onClear={() => keptColumns.set(null)} />
        </div>
      )}
    </Popover>
  )
}

const exports = [
  ['csv', 'CSV, for spreadsheets'],
  ['ndjson', 'NDJSON, for programs'],
  ['parquet', 'Parquet, for analysis'],
] as const

/** The menu that saves all calls that match the filters as a file. */
function ExportMenu({ total }: Pick<CallsToolsProps, 'total'>) {
  const { address } = useNavigation()
  return (
    <Popover
      label="Export"
      widthPx={260}
      words={
        <>
          <Icon name="download" /> <span class="tool-words">Export</span>
        </>
      }
    >
      {(close) => (
        <div class="export-links stack">
          {exports.map(([format, words]) => (
            <a
              key={format}
              class="button"
              href={exportPath(address, nowMs(), format)}
              download
              onClick={close}
            >
              {words}
            </a>
          ))}
          <p class="finest">
            {total === null ? 'All of these calls' : `All ${counted(total, 'call')}`}, newest first, times in
            UTC.
          </p>
        </div>
      )}
    </Popover>
  )
}
