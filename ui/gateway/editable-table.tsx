import { type ComponentChildren, Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { Editor, type RowForm } from '../design/editor.tsx'
import { StateMark } from '../design/icon.tsx'
import { Table } from '../design/table.tsx'
import { count, known } from '../format/figures.ts'
import type { RowState } from './row-state.ts'

/** A column: its head, and its cell of a row. */
export interface Column<Row> {
  readonly head: string
  readonly title?: string
  /** Its cells hold words, not a figure. */
  readonly isWords?: boolean
  readonly class?: (row: Row) => string
  readonly cell: (row: Row) => ComponentChildren
}

export interface EditableTableProps<Row, Report, Name extends string> {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** The first column names the row. */
  readonly columns: readonly [Column<Row>, ...Column<Row>[]]
  /** Null for a row that cannot be changed. */
  readonly formOf?: (row: Row) => RowForm<Name> | null
  /** Adds a row. */
  readonly add?: { readonly words: string; readonly form: RowForm<Name> }
  /** The report that a change is answered with. */
  readonly onSaved?: (report: Report) => void
  /** The file that keeps the rows has to be mended first. */
  readonly isLocked?: boolean
  /** The button of a row, in place of a form. */
  readonly action?: { readonly head: string; readonly button: (row: Row) => ComponentChildren }
  /** In place of the table. */
  readonly empty?: ComponentChildren
  /** Rows at first, beside urgent ones and the one that is edited. */
  readonly most?: number
  readonly isUrgent?: (row: Row) => boolean
}

/** The key of the row that is added: no row has it. */
const added = ''

/** A table whose rows can be changed, each in a form below it. */
export function EditableTable<Row, Report, Name extends string = never>(
  props: EditableTableProps<Row, Report, Name>,
) {
  const { caption, rows, keyOf, columns, formOf = () => null, add, onSaved, isLocked = false } = props
  const { action, empty, most = Infinity, isUrgent = () => false } = props
  const [edited, setEdited] = useState<string | null>(null)
  const [isAll, setAll] = useState(false)
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
            ...columns.map(({ head, title, isWords = false }) => ({
              words: title === undefined ? head : <span title={title}>{head}</span>,
              ...(isWords && { class: 'is-words' }),
            })),
            { words: <span class="aside">{action?.head ?? 'Change'}</span> },
          ]}
        >
          <tbody>
            {shown.map((row) => {
              const key = keyOf(row)
              const form = formOf(row)
              const isEdited = key === edited
              return (
                <Fragment key={key}>
                  <tr>
                    <th scope="row">{first.cell(row)}</th>
                    {others.map((column) => (
                      <td
                        key={column.head}
                        data-label={column.isWords === true ? undefined : column.head}
                        class={column.isWords === true ? 'is-words' : column.class?.(row)}
                      >
                        {column.cell(row)}
                      </td>
                    ))}
                    <td class="row-action">
                      {action?.button(row)}
                      {form !== null && (
                        <Button
                          kind="bare"
                          small
                          aria-expanded={isEdited}
                          isOff={isLocked}
                          aria-label={`Change ${key}`}
                          onClick={() => setEdited(isEdited ? null : key)}
                        >
                          Change
                        </Button>
                      )}
                    </td>
                  </tr>
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

/** Calls that hold a slot, of how many. */
export function inFlight<Row>(
  usedOf: (row: Row) => readonly [active: number | null | undefined, slots: string | null],
): Column<Row> {
  return {
    head: 'In flight',
    cell: (row) => {
      const [active, slots] = usedOf(row)
      return (
        <>
          {known(active, count)}
          {slots !== null && <span class="quiet"> of {slots}</span>}
        </>
      )
    },
  }
}

/** Calls that wait. */
export function waiting<Row>(waitingOf: (row: Row) => number | null | undefined): Column<Row> {
  return {
    head: 'Waiting',
    class: (row) => ((waitingOf(row) ?? 0) > 0 ? 'is-queue' : ''),
    cell: (row) => known(waitingOf(row), count),
  }
}

/** How each row is, with reasons below. */
export function state<Row>(stateOf: (row: Row) => RowState): Column<Row> {
  return {
    head: 'State',
    isWords: true,
    cell: (row) => {
      const { shape, tone, words, details } = stateOf(row)
      return (
        <>
          <span class={`is-${tone}`}>
            <StateMark shape={shape} /> {words}
          </span>
          {details.map((detail) => (
            <small key={detail}>{detail}</small>
          ))}
        </>
      )
    },
  }
}
