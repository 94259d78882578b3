import { type ComponentChildren, Fragment, type HTMLAttributes } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../../format/figures.ts'
import { Button } from '../button.tsx'
import { explained } from '../meanings.ts'
import { SortHeading, sortedAs } from './sort-heading.tsx'
import { sortedRows } from './sorted-rows.ts'

/** A column: its head, and its cell in a row. */
export interface Column<Row, Name extends string = never> {
  readonly head: ComponentChildren
  /** The tooltip of the head (default: the meaning of the figure). */
  readonly title?: string | undefined
  /** True if the column has text, not figures. Narrow tables show the head of figures and of `labelled` text. */
  readonly isWords?: boolean | 'labelled'
  /** The class of the head and the cells. */
  readonly class?: string | undefined
  /** The name of the order by this column, and the value that it sorts by; null for an unknown value. */
  readonly sort?: readonly [name: Name, valueOf: (row: Row) => number | null]
  readonly cell: (row: Row) => ComponentChildren
  /** Returns a second, quieter line. */
  readonly about?: (row: Row) => ComponentChildren
}

/** The order of a table. */
export interface TableOrder<Name extends string> {
  /** The name of the column that sorts the table; null for the given order. */
  readonly name: Name | null
  /** True if the smallest value comes first. */
  readonly rising: boolean
  readonly onOrder: (name: Name, rising: boolean) => void
}

export interface TableProps<Row, Name extends string = never> {
  /** The table's name for screen readers. */
  readonly caption: string
  readonly class?: string
  /** The columns. The first one names the row. */
  readonly columns: readonly Column<Row, Name>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  readonly order?: TableOrder<Name>
  /** A last row with the sums of all rows. */
  readonly total?: Row | false
  /** The number of rows shown at first, besides urgent ones. */
  readonly most?: number
  readonly isUrgent?: (row: Row) => boolean
  /** Returns attributes of a row's element. */
  readonly attributesOf?: (row: Row) => HTMLAttributes<HTMLTableRowElement>
  /** Returns content below a row, as wide as the table; null for none. */
  readonly belowOf?: (row: Row) => ComponentChildren
}

/**
 * A table of figures. The first column has names; figures are aligned to the right. `small` in a cell is a second,
 * quieter line, and the total is bold.
 */
export function Table<Row, Name extends string = never>(props: TableProps<Row, Name>) {
  const { caption, class: className = '', columns, rows, keyOf, order, total = false } = props
  const { most = Infinity, isUrgent = () => false, attributesOf, belowOf = () => null } = props
  const [isAll, setAll] = useState(false)
  const sort = order && columns.find(({ sort }) => sort?.[0] === order.name)?.sort
  const sorted = sort === undefined ? rows : sortedRows(rows, sort[1], order?.rising ?? false)
  const first = sorted.filter((row, at) => at < most || isUrgent(row))
  return (
    <>
      <table class={`table ${className}`}>
        <caption class="aside">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <Head key={at} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {(isAll ? sorted : first).map((row) => {
            const below = belowOf(row)
            return (
              <Fragment key={keyOf(row)}>
                <tr {...attributesOf?.(row)}>
                  {columns.map((column, at) => (
                    <Cell key={at} isName={at === 0} column={column} content={column.cell(row)}>
                      {column.about !== undefined && <small>{column.about(row)}</small>}
                    </Cell>
                  ))}
                </tr>
                {below !== null && (
                  <tr class="row-below">
                    <td colSpan={columns.length}>{below}</td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
        {total !== false && (
          <tfoot>
            <tr>
              {columns.map((column, at) => (
                <Cell
                  key={at}
                  isName={at === 0}
                  column={column}
                  content={at === 0 ? 'All' : column.cell(total)}
                />
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {first.length < rows.length && (
        <Button kind="bare" small class="table-more" onClick={() => setAll(!isAll)}>
          {isAll ? `Show first ${count(first.length)}` : `Show all ${count(rows.length)}`}
        </Button>
      )}
    </>
  )
}

interface HeadProps<Row, Name extends string> {
  readonly column: Column<Row, Name>
  readonly order: TableOrder<Name> | undefined
}

function Head<Row, Name extends string>({ column, order }: HeadProps<Row, Name>) {
  const { head, title, sort } = column
  const about = typeof head === 'string' ? explained(head, title) : {}
  if (sort === undefined || order === undefined) {
    return (
      <th scope="col" class={classOf(column)} {...about}>
        {head}
      </th>
    )
  }
  const [name] = sort
  const sorted = sortedAs<Name | null>(name, order.name, order.rising)
  return (
    <th scope="col" class={classOf(column)} aria-sort={sorted}>
      {/* Keyboard users get the meaning of the figure, too. */}
      <SortHeading sorted={sorted} onSort={(rising) => order.onOrder(name, rising)} {...about}>
        {head}
      </SortHeading>
    </th>
  )
}

interface CellProps {
  readonly isName: boolean
  readonly column: Pick<Column<never, string>, 'head' | 'isWords' | 'class'>
  readonly content: ComponentChildren
  readonly children?: ComponentChildren
}

function Cell({ isName, column, content, children }: CellProps) {
  const { head, isWords } = column
  if (isName) {
    return (
      <th scope="row" class={classOf(column)}>
        {content}
        {children}
      </th>
    )
  }
  return (
    <td class={classOf(column)} data-label={isWords === true || typeof head !== 'string' ? undefined : head}>
      {content}
      {children}
    </td>
  )
}

function classOf({ isWords = false, class: className = '' }: CellProps['column']): string {
  return isWords === false ? className : `is-words ${className}`
}
