import { Component, type CSSProperties, type ComponentChildren, Fragment, type RefObject } from 'preact'
import { explained } from '../design/meanings.ts'
import { SortHeading, sortedAs } from '../design/table/sort-heading.tsx'
import type { TableOrder } from '../design/table/table.tsx'
import type { RowPlace, VirtualRows } from './virtual-rows.ts'

/** A column of a long table. */
export interface ListColumn<Row, Sort extends string = never> {
  readonly name: string
  readonly words: string
  /** The tooltip of the heading (default: the meaning of the figure). */
  readonly title?: string | undefined
  /** Content beside the heading. */
  readonly extra?: ComponentChildren
  /** The class of the heading and the cells. */
  readonly class?: string
  /** The width in rem. Without one, the column gets the remaining width, or the width of its style. */
  readonly rem?: number | undefined
  readonly sort?: Sort | undefined
  /** Returns the content of a cell. The keyboard can reach the buttons of the active row only. */
  readonly cell: (row: Row, isActive: boolean) => ComponentChildren
}

export interface LongTableProps<Row, Sort extends string> {
  /** The scrolling element around the table. */
  readonly box: RefObject<HTMLDivElement | null>
  readonly list: VirtualRows<Row>
  readonly label: string
  readonly class: string
  readonly style?: CSSProperties
  readonly columns: readonly ListColumn<Row, Sort>[]
  /** The name of the column with the link that opens the row (default: the first). */
  readonly linkIn?: string
  readonly linkOf: (row: Row) => { readonly href: string; readonly title?: string }
  /** The class of rows that are laid out as a grid; `rowClassOf` adds a class (default: a plain table). */
  readonly gridClass?: string
  readonly rowClassOf?: (row: Row) => string
  /** Returns a value that changes with a row that stays the same object. */
  readonly versionOf?: (row: Row) => unknown
  readonly order?: TableOrder<Sort>
  /** The number of rows, including those not loaded yet; null if unknown. */
  readonly total: number | null
  readonly isStale?: boolean
  /** The id of the row that is open beside the table. */
  readonly openId?: string | null
  /** True if Escape leaves the table. */
  readonly isLeftByEscape?: boolean
  /** Content below the rows. */
  readonly children?: ComponentChildren
}

/** A table of which only the visible rows are rendered. The whole row is a link that opens it. */
export function LongTable<Row extends { readonly id: string }, Sort extends string = never>(
  props: LongTableProps<Row, Sort>,
) {
  const { box, list, label, class: className, style, columns, linkIn = columns[0]?.name, linkOf } = props
  const { gridClass, rowClassOf, versionOf, order, total, isStale = false, openId, isLeftByEscape } = props
  const rowClass = gridClass === undefined ? '' : `list-row ${gridClass}`
  const last = list.rows.at(-1)?.place.index ?? -1
  const gap = (rows: number) => <Gap px={list.heightOf(rows)} columns={columns.length} />
  return (
    <div
      ref={box}
      class={`${className} ${isStale ? 'is-stale' : ''}`}
      style={style}
      onKeyDown={(event) => {
        if (isLeftByEscape === true && event.key === 'Escape') (document.activeElement as HTMLElement).blur()
        else list.onKeyDown(event)
      }}
    >
      <table
        class={gridClass === undefined ? '' : 'list-grid'}
        aria-rowcount={total === null ? -1 : total + 1}
        aria-label={label}
        aria-busy={isStale}
      >
        <colgroup>
          {columns.map(({ name, rem }) => (
            <col key={name} style={rem === undefined ? {} : { width: `${rem}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr class={`${rowClass} list-columns`} aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.name} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {list.rows.map(({ row, place }, at) => (
            <Fragment key={row.id}>
              {gap(place.index - (list.rows[at - 1]?.place.index ?? -1) - 1)}
              <ListRow<Row>
                {...place}
                {...linkOf(row)}
                row={row}
                version={versionOf?.(row)}
                class={`${rowClass} ${rowClassOf?.(row) ?? ''}`}
                isOpen={row.id === openId}
                columns={columns}
                linkIn={linkIn}
              />
            </Fragment>
          ))}
          {gap(list.count - last - 1)}
        </tbody>
      </table>
      {props.children}
    </div>
  )
}

interface HeadProps<Row, Sort extends string> {
  readonly column: ListColumn<Row, Sort>
  readonly order: TableOrder<Sort> | undefined
}

function Head<Row, Sort extends string>({ column, order }: HeadProps<Row, Sort>) {
  const { words, title, extra, class: className, sort } = column
  const sorted = order && sortedAs<Sort | null | undefined>(sort, order.name, order.rising)
  return (
    <th scope="col" class={className} {...explained(words, title)} aria-sort={sorted}>
      {sort === undefined || order === undefined ? (
        words
      ) : (
        <SortHeading sorted={sorted} onSort={(rising) => order.onOrder(sort, rising)}>
          {words}
        </SortHeading>
      )}
      {extra}
    </th>
  )
}

/** The space of rows that are not rendered. */
function Gap({ px, columns }: { readonly px: number; readonly columns: number }) {
  if (px <= 0) return null
  return (
    <tr class="gap" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  )
}

interface ListRowProps<Row> extends RowPlace {
  readonly row: Row
  readonly version: unknown
  readonly href: string
  readonly title?: string
  readonly class: string
  readonly isOpen: boolean
  readonly columns: readonly ListColumn<Row, string>[]
  readonly linkIn: string | undefined
}

/** A row, which renders again only when a property changes. */
class ListRow<Row extends { readonly id: string }> extends Component<ListRowProps<Row>> {
  override shouldComponentUpdate(next: Readonly<ListRowProps<Row>>): boolean {
    const names = Object.keys(next) as (keyof ListRowProps<Row>)[]
    return names.some((name) => next[name] !== this.props[name])
  }

  override render() {
    const { row, index, href, title, isOpen, columns, linkIn, isActive, onFocus, onPress } = this.props
    const { id } = row
    return (
      <tr
        class={this.props.class}
        aria-rowindex={index + 2}
        aria-current={isOpen ? 'true' : undefined}
        onClick={(event) => onPress(event, id)}
      >
        {columns.map(({ name, class: className, cell }) => (
          <td key={name} class={className}>
            {name === linkIn ? (
              <a
                data-id={id}
                href={href}
                title={title}
                tabIndex={isActive ? 0 : -1}
                onFocus={() => onFocus(id)}
              >
                {cell(row, isActive)}
              </a>
            ) : (
              cell(row, isActive)
            )}
          </td>
        ))}
      </tr>
    )
  }
}
