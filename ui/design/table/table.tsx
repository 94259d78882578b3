import type { ComponentChildren } from 'preact'
import { explained } from '../meanings.ts'

/** The head of a column: its words alone, or with a class for all of its look that differs from others', and what it means here. */
export type ColumnHead =
  | string
  | {
      readonly words: ComponentChildren
      readonly class?: string
      readonly meaning?: string
      readonly sorted?: 'ascending' | 'descending'
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
            const { words, class: ofColumn, meaning, sorted } = head
            return (
              <th
                key={at}
                scope="col"
                class={ofColumn}
                aria-sort={sorted}
                {...(typeof words === 'string' && explained(words, meaning))}
              >
                {words}
              </th>
            )
          })}
        </tr>
      </thead>
      {children}
    </table>
  )
}
