import type { ComponentChildren } from 'preact'
import { explained } from '../meanings.ts'
import { SortHeading, type Sorting } from './sort-heading.tsx'

/** The head of a column: its words alone, or with a class for all of its look that differs from others', and what it means here. */
export type ColumnHead =
  | string
  | {
      readonly words: ComponentChildren
      readonly class?: string | undefined
      readonly meaning?: string
      /** Given where the column sorts. */
      readonly sorting?: Sorting | undefined
    }

export interface TableProps {
  /** Names the table for those who do not see it. */
  readonly caption: string
  readonly columns: readonly ColumnHead[]
  readonly class?: string
  /** `tbody`, and `tfoot` for a total. */
  readonly children: ComponentChildren
}

/**
 * A table of figures: names in the first column, figures aligned to the right. `is-words` on a cell aligns it to the
 * left; `small` in a cell is a second, quieter line; a `tfoot` is bold.
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
