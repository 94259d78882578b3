import type { ComponentChildren } from 'preact'
import { Icon } from '../icon.tsx'

/** As `aria-sort` says it; undefined for a column that does not sort. */
export type Sorted = 'ascending' | 'descending' | undefined

/** How a column is sorted, of a table that `order` sorts. */
export function sortedAs<Name>(name: Name, order: Name, rising: boolean): Sorted {
  if (name !== order) return undefined
  return rising ? 'ascending' : 'descending'
}

/** How a column is sorted, and what sorts by it: the smallest first, or the largest. */
export interface Sorting {
  readonly sorted: Sorted
  readonly onSort: (rising: boolean) => void
}

export interface SortHeadingProps extends Sorting {
  readonly children: ComponentChildren
}

/** The words of a column that sorts: a press puts the largest first, another one the smallest. */
export function SortHeading({ sorted, onSort, children }: SortHeadingProps) {
  return (
    <button
      type="button"
      class="sort-heading"
      aria-pressed={sorted !== undefined}
      onClick={() => onSort(sorted === 'descending')}
    >
      {children}
      {sorted !== undefined && <Icon name={sorted === 'ascending' ? 'up' : 'fall'} size={12} />}
    </button>
  )
}
