import type { JSX } from 'preact'
import { Icon } from '../design/icon.tsx'
import { Popover } from '../design/popover.tsx'
import { CheckList } from '../filters/check-list.tsx'
import { callColumns } from './call-columns.tsx'
import { type ColumnName, columnNames, fixedColumns } from './chosen-columns.ts'

export interface ColumnsMenuProps {
  readonly columns: readonly ColumnName[]
  /** Null goes back to what fits. */
  readonly onChoose: (columns: readonly ColumnName[] | null) => void
  readonly isOwnChoice: boolean
}

/** Chooses what the table shows; the choice is kept in this browser. */
export function ColumnsMenu({ columns, onChoose, isOwnChoice }: ColumnsMenuProps): JSX.Element {
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
        <div class="filter-panel">
          <CheckList
            choices={columnNames.map((name) => ({
              choice: name,
              words: callColumns[name].words,
              title: callColumns[name].title,
              isFixed: fixedColumns.has(name),
            }))}
            chosen={columns}
            onChoose={(chosen) => onChoose(columnNames.filter((name) => chosen.includes(name)))}
            hasOnly={false}
          />
          <div class="filter-panel-foot">
            <button
              type="button"
              class="button small bare"
              aria-disabled={!isOwnChoice}
              onClick={() => onChoose(null)}
            >
              What fits
            </button>
          </div>
        </div>
      )}
    </Popover>
  )
}
