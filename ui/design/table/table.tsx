import type { ComponentChildren } from 'preact'
import { explained } from '../meanings.ts'
import { SortHeading, type Sorting } from './sort-heading.tsx'

/** A column's head: a text, or a text with a class, a meaning for the tooltip, or a sorting. */
export type ColumnHead =
  | string
  | {
      readonly words: ComponentChildren
      readonly class?: string | undefined
      readonly meaning?: string
      /** The sorting, if the column can sort. */
      readonly sorting?: Sorting | undefined
    }

export interface TableProps {
  /** The table's name for screen readers. */
  readonly caption: string
  readonly columns: readonly ColumnHead[]
  readonly class?: string
  /** `tbody`, and `tfoot` for a total. */
  readonly children: ComponentChildren
}

/**
 * A table of figures. The first column has names; figures are aligned to the right. `is-words` aligns a cell to the
 * left, `small` in a cell is a second, quieter line, and `tfoot` is bold.
 */
export function Table({ caption, columns, class: className = '', children }: TableProps) {
  return (
    <table class={`table ${className}`}>
      <caption class="aside">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, at) => {
            const head: Exclude<ColumnHead, string> = typeof column === 'string' ? { words: column } : column
            const { words, class: ofColumn, meaning, sorting } = head
            const about = typeof words === 'string' ? explained(words, meaning) : {}
            if (sorting === undefined) {
              return (
                <th key={at} scope="col" class={ofColumn} {...about}>
                  {words}
                </th>
              )
            }
            return (
              <th key={at} scope="col" class={ofColumn} aria-sort={sorting.sorted}>
                {/* Keyboard users get the meaning of the figure, too. */}
                <SortHeading {...sorting} {...about}>
                  {words}
                </SortHeading>
              </th>
            )
          })}
        </tr>
      </thead>
      {children}
    </table>
  )
}
