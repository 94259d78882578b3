import './editor.css'
import { type ComponentChildren, Fragment } from 'preact'
import { useId, useState } from 'preact/hooks'
import { count } from '../../format/figures.ts'
import { Button } from '../button.tsx'
import { Editor, type RowForm } from './editor.tsx'
import { Icon } from '../icon.tsx'
import type { Sorting } from './sort-heading.tsx'
import { Table } from './table.tsx'

/** A column: its head, and its cell in a row. */
export interface Column<Row> {
  readonly head: string
  readonly title?: string
  /** True if the column's cells contain text, not figures. */
  readonly isWords?: boolean
  readonly class?: (row: Row) => string
  /** The sorting, if the column can sort. */
  readonly sorting?: Sorting
  readonly cell: (row: Row) => ComponentChildren
  /** Returns a second, quieter line. */
  readonly about?: (row: Row) => ComponentChildren
}

export interface EditableTableProps<Row, Report, Name extends string> {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** The columns. The first one names the row. */
  readonly columns: readonly [Column<Row>, ...Column<Row>[]]
  /** Returns the form of a row; null if the row cannot be changed. */
  readonly formOf?: (row: Row) => RowForm<Name> | null
  /** Returns the text of the button that opens the form (default: `Change`). */
  readonly buttonOf?: (row: Row) => string
  /** Returns the row's name in the button's label (default: the row's key). */
  readonly nameOf?: (row: Row) => string
  /** Returns the content collapsed behind the row's name; null for none. */
  readonly detailsOf?: (row: Row) => ComponentChildren
  /** The button and form that add a row. */
  readonly add?: { readonly words: string; readonly form: RowForm<Name> }
  /** Called with the report that answers a change. */
  readonly onSaved?: (report: Report) => void
  /** True if the file with the rows is invalid, so that no row can be changed. */
  readonly isLocked?: boolean
  /** A button in each row, in place of a form. */
  readonly action?: { readonly head: string; readonly button: (row: Row) => ComponentChildren }
  /** The content in place of an empty table. */
  readonly empty?: ComponentChildren
  /** The number of rows shown at first, besides urgent ones and the edited one. */
  readonly most?: number
  readonly isUrgent?: (row: Row) => boolean
}

/** The key of the new row; no other row has it. */
const added = ''

/** A table whose rows can be changed, each in a form below it. */
export function EditableTable<Row, Report, Name extends string = never>(
  props: EditableTableProps<Row, Report, Name>,
) {
  const { caption, rows, keyOf, columns, formOf = () => null, add, onSaved, isLocked = false } = props
  const { action, empty, most = Infinity, isUrgent = () => false } = props
  const { nameOf = keyOf, buttonOf = () => 'Change', detailsOf = () => null } = props
  const [edited, setEdited] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)
  const [isAll, setAll] = useState(false)
  const id = useId()
  const shown = rows.filter((row, at) => isAll || at < most || isUrgent(row) || keyOf(row) === edited)
  const editor = (form: RowForm<Name>) => (
    <Editor<Report, Name>
      form={form}
      onLeave={() => setEdited(null)}
      onSaved={(report) => {
        onSaved?.(report)
        setEdited(null)
      }}
    />
  )
  const [first, ...others] = columns
  return (
    <>
      {empty ?? (
        <Table
          caption={caption}
          class="editable-table"
          columns={[
            ...columns.map(({ head, title, isWords = false, sorting }) => ({
              words: title === undefined ? head : <span title={title}>{head}</span>,
              sorting,
              ...(isWords && { class: 'is-words' }),
            })),
            { words: <span class="aside">{action?.head ?? 'Change'}</span> },
          ]}
        >
          <tbody>
            {shown.map((row) => {
              const key = keyOf(row)
              const form = formOf(row)
              const details = detailsOf(row)
              const isEdited = key === edited
              const isOpen = key === opened
              return (
                <Fragment key={key}>
                  <tr>
                    <th scope="row">
                      {details === null ? (
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
                      )}
                      {first.about !== undefined && <small>{first.about(row)}</small>}
                    </th>
                    {others.map((column) => (
                      <td
                        key={column.head}
                        data-label={column.isWords === true ? undefined : column.head}
                        class={column.isWords === true ? 'is-words' : column.class?.(row)}
                      >
                        {column.cell(row)}
                        {column.about !== undefined && <small>{column.about(row)}</small>}
                      </td>
                    ))}
                    <td class="row-action">
                      {action?.button(row)}
                      {form !== null && (
                        <Button
                          small
                          aria-expanded={isEdited}
                          isOff={isLocked}
                          aria-label={`${buttonOf(row)} ${nameOf(row)}`}
                          onClick={() => setEdited(isEdited ? null : key)}
                        >
                          {buttonOf(row)}
                        </Button>
                      )}
                    </td>
                  </tr>
                  {isOpen && details !== null && (
                    <tr class="row-editor" id={id}>
                      <td colSpan={columns.length + 1}>{details}</td>
                    </tr>
                  )}
                  {isEdited && form !== null && (
                    <tr class="row-editor">
                      <td colSpan={columns.length + 1}>{editor(form)}</td>
                    </tr>
                  )}
                </Fragment>
              )
            })}
          </tbody>
        </Table>
      )}
      {shown.length < rows.length && (
        <Button kind="bare" small onClick={() => setAll(true)}>
          Show all {count(rows.length)}
        </Button>
      )}
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
