import type { ComponentChildren, HTMLAttributes } from 'preact'
import { Icon } from '../icon.tsx'

/** As `aria-sort` says it; undefined for a column that does not sort. */
export type Sorted = 'ascending' | 'descending' | undefined

/** How a column is sorted, of a table that `order` sorts. */
export function sortedAs<Name>(name: Name, order: Name, rising: boolean): Sorted {
  if (name !== order) return undefined
  return rising ? 'ascending' : 'descending'
}

export interface SortHeadingProps extends Pick<HTMLAttributes<HTMLButtonElement>, 'title' | 'aria-label'> {
  readonly sorted: Sorted
  /** Asks for the smallest first, or the largest. */
  readonly onSort: (rising: boolean) => void
  readonly children: ComponentChildren
}

/** The words of a column that sorts: a press puts the largest first, another one the smallest. */
export function SortHeading({ sorted, onSort, children, ...rest }: SortHeadingProps) {
  return (
    <button
      type="button"
      class="sort-heading"
      aria-pressed={sorted !== undefined}
      onClick={() => onSort(sorted === 'descending')}
      {...rest}
    >
      {children}
      {sorted !== undefined && <Icon name={sorted === 'ascending' ? 'up' : 'fall'} size={12} />}
    </button>
  )
}
