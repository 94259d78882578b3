import './calls-table.css'
import { Fragment, type JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallSort } from '../../src/call/call-reader.ts'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { roundDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { CallRow } from './call-row.tsx'
import { callColumns } from './call-columns.tsx'
import { type ColumnName, columnRem } from './chosen-columns.ts'
import { useHeightBelow } from '../design/use-height-below.ts'
import { useCallRows } from './use-call-rows.ts'

/** Of the head and of each row, in pixels. */
const headPx = 36
const rowPx = 36

export interface CallsTableProps {
  readonly calls: readonly CallJson[]
  /** Of how many calls these are the first; null where that is not known. */
  readonly total: number | null
  readonly columns: readonly ColumnName[]
  readonly scaleMs: number
  readonly times: Times
  readonly nowMs: number
  readonly isStale: boolean
  readonly onOpen: (id: string) => void
  /** The last rows are near. */
  readonly onNearEnd: () => void
  /** After the last row. */
  readonly foot: JSX.Element
}

/** The calls of a list as a table, of which only the rows that are seen are there. */
export function CallsTable(props: CallsTableProps): JSX.Element {
  const { calls, total, columns, scaleMs, times, nowMs, isStale, onOpen, onNearEnd, foot } = props
  const { address, go } = useNavigation()
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useCallRows({ calls, list: scroller, byWindow: false, headPx, rowPx, onOpen, onNearEnd })
  const heightPx = useHeightBelow(scroller)
  const widthRem = columns.reduce((sum, name) => sum + columnRem[name], 0)
  const place = (index: number): number => index * rowPx
  let atPx = 0
  const drawn = rows.indexes.flatMap((index) => {
    const call = calls[index]
    if (call === undefined) return []
    const gapPx = place(index) - atPx
    atPx = place(index + 1)
    return [{ index, call, gapPx }]
  })
  return (
    <div
      class={`calls-scroller ${isStale ? 'is-stale' : ''}`}
      ref={scroller}
      style={{ '--row-height': `${rowPx}px`, height: `${heightPx}px` }}
      onKeyDown={rows.onKeyDown}
    >
      <table
        class="calls-table"
        aria-rowcount={total === null ? -1 : total + 1}
        aria-label="Calls"
        aria-busy={isStale}
        style={{ minWidth: `${widthRem}rem` }}
      >
        <colgroup>
          {columns.map((name) => (
            <col key={name} style={name === 'timing' ? {} : { width: `${columnRem[name]}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((name) => (
              <ColumnHead
                key={name}
                name={name}
                sort={address.sort}
                onSort={(sort) => go({ sort })}
                scaleMs={scaleMs}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn.map(({ index, call, gapPx }) => (
            <Fragment key={call.id}>
              {gapPx > 0 && <Gap px={gapPx} columns={columns.length} />}
              <CallRow
                call={call}
                index={index}
                columns={columns}
                scaleMs={scaleMs}
                times={times}
                nowMs={nowMs}
                address={address}
                isActive={index === rows.active}
                isOpen={call.id === address.call}
                handlers={rows.handlers}
              />
            </Fragment>
          ))}
          {place(calls.length) > atPx && <Gap px={place(calls.length) - atPx} columns={columns.length} />}
        </tbody>
      </table>
      {foot}
    </div>
  )
}

interface ColumnHeadProps {
  readonly name: ColumnName
  readonly sort: CallSort
  readonly onSort: (sort: CallSort) => void
  readonly scaleMs: number
}

function ColumnHead({ name, sort, onSort, scaleMs }: ColumnHeadProps): JSX.Element {
  const { words, title, isFigure, sort: ownSort } = callColumns[name]
  const isSorted = ownSort === sort
  return (
    <th
      scope="col"
      class={isFigure === true ? 'figure' : ''}
      title={title}
      aria-sort={isSorted ? 'descending' : undefined}
    >
      {ownSort === undefined ? (
        words
      ) : (
        <button type="button" onClick={() => onSort(ownSort)}>
          {words}
          {isSorted && <Icon name="fall" size={12} />}
        </button>
      )}
      {name === 'timing' && <span class="timing-scale">{roundDuration(scaleMs)}</span>}
    </th>
  )
}

/** Room of the rows that are not there. */
function Gap({ px, columns }: { readonly px: number; readonly columns: number }): JSX.Element {
  return (
    <tr class="gap" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  )
}
