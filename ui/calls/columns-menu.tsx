import './facet-menu.css'
import type { JSX } from 'preact'
import { Icon } from '../design/icon.tsx'
import { Popover } from '../design/popover.tsx'
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
  const toggle = (name: ColumnName): void => {
    onChoose(columnNames.filter((one) => (one === name) !== columns.includes(one)))
  }
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
        <div class="facet-list">
          {columnNames.map((name) => (
            <label key={name} title={callColumns[name].title}>
              <input
                type="checkbox"
                checked={columns.includes(name)}
                disabled={fixedColumns.has(name)}
                onChange={() => toggle(name)}
              />
              <span>{callColumns[name].words}</span>
            </label>
          ))}
          <button
            type="button"
            class="button bare small"
            aria-disabled={!isOwnChoice}
            onClick={() => onChoose(null)}
          >
            Choose what fits
          </button>
        </div>
      )}
    </Popover>
  )
}
