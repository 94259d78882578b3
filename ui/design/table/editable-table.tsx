import './editor.css'
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { Editor, type RowForm } from './editor.tsx'
import { Icon } from '../icon.tsx'
import { type Column, Table, type TableProps } from './table.tsx'

export interface EditableTableProps<
  Row,
  Report,
  Field extends string,
  Name extends string,
> extends TableProps<Row, Name> {
  readonly keyOf: (row: Row) => string
  readonly columns: readonly [Column<Row, Name>, ...Column<Row, Name>[]]
  /** Returns the form of a row; null if the row cannot be changed. */
  readonly formOf?: (row: Row) => RowForm<Field> | null
  /** Returns the text of the button that opens the form (default: `Change`). */
  readonly buttonOf?: (row: Row) => string
  /** Returns the row's name in the button's label (default: the row's key). */
  readonly nameOf?: (row: Row) => string
  /** Returns the content collapsed behind the row's name; null for none. */
  readonly detailsOf?: (row: Row) => ComponentChildren
  /** The button and form that add a row. */
  readonly add?: { readonly words: string; readonly form: RowForm<Field> }
  /** Called with the report that answers a change. */
  readonly onSaved?: (report: Report) => void
  /** True if the file with the rows is invalid, so that no row can be changed. */
  readonly isLocked?: boolean
  /** The content in place of an empty table. */
  readonly empty?: ComponentChildren
}

/** The key of the new row; no other row has it. */
const added = ''

/** A table whose rows can be changed, each in a form below it. */
export function EditableTable<Row, Report, Field extends string = never, Name extends string = never>(
  props: EditableTableProps<Row, Report, Field, Name>,
) {
  const { keyOf, columns, formOf, add, onSaved, isLocked = false, empty, isUrgent = () => false } = props
  const { nameOf = keyOf, buttonOf = () => 'Change', detailsOf = () => null } = props
  const [edited, setEdited] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)
  const id = useId()
  const held = useRef<{ readonly row: Row; readonly at: number } | null>(null)
  const at = props.rows.findIndex((row) => keyOf(row) === edited)
  const found = props.rows[at]
  if (found !== undefined) held.current = { row: found, at }
  // The rows may no longer include the edited one, such as a model without calls in a range that moves. It stays in
  // its place until its form closes.
  const lost =
    found === undefined && held.current !== null && keyOf(held.current.row) === edited ? held.current : null
  const rows = lost === null ? props.rows : props.rows.toSpliced(lost.at, 0, lost.row)
  const editor = (form: RowForm<Field>) => (
    <Editor<Report, Field>
      form={form}
      onLeave={() => setEdited(null)}
      onSaved={(report) => {
        onSaved?.(report)
        setEdited(null)
      }}
    />
  )
  const [first, ...others] = columns
  const opener: Column<Row, Name> = {
    ...first,
    cell: (row) => {
      const key = keyOf(row)
      const isOpen = key === opened
      return detailsOf(row) === null ? (
        first.cell(row)
      ) : (
        <button
          type="button"
          class="opener row"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpened(isOpen ? null : key)}
        >
          <Icon name="right" size={14} />
          {first.cell(row)}
        </button>
      )
    },
  }
  const change: Column<Row, Name> = {
    head: <span class="aside">Change</span>,
    class: 'row-action',
    cell: (row) => {
      const key = keyOf(row)
      return (
        formOf?.(row) !== null && (
          <Button
            small
            aria-expanded={key === edited}
            isOff={isLocked}
            aria-label={`${buttonOf(row)} ${nameOf(row)}`}
            onClick={() => setEdited(key === edited ? null : key)}
          >
            {buttonOf(row)}
          </Button>
        )
      )
    },
  }
  const belowOf = (row: Row): ComponentChildren => {
    const details = keyOf(row) === opened ? detailsOf(row) : null
    const form = keyOf(row) === edited ? (formOf?.(row) ?? null) : null
    if (details === null && form === null) return null
    return (
      <>
        {details !== null && <div id={id}>{details}</div>}
        {form !== null && editor(form)}
      </>
    )
  }
  return (
    <>
      {((empty ?? null) === null || lost !== null) && (
        <Table
          {...props}
          rows={rows}
          class="editable-table"
          columns={[opener, ...others, ...(formOf === undefined ? [] : [change])]}
          isUrgent={(row) => isUrgent(row) || keyOf(row) === edited}
          belowOf={belowOf}
        />
      )}
      {empty}
      {add !== undefined &&
        (edited === added ? (
          editor(add.form)
        ) : (
          <Button small isOff={isLocked} onClick={() => setEdited(added)}>
            {add.words}
          </Button>
        ))}
    </>
  )
}
