import type { ComponentChildren } from 'preact'
import { Icon } from '../icon.tsx'
import type { explained } from '../meanings.ts'

/** The value of `aria-sort`; undefined for a column that does not sort. */
export type Sorted = 'ascending' | 'descending' | undefined

/** The sorting of a column in a table that is sorted by `order`. */
export function sortedAs<Name>(name: Name, order: Name, rising: boolean): Sorted {
  if (name !== order) return undefined
  return rising ? 'ascending' : 'descending'
}

/** The sorting of a column, and the action that sorts by it, rising or falling. */
export interface Sorting {
  readonly sorted: Sorted
  readonly onSort: (rising: boolean) => void
}

/** The {@link Sorting} of the column `name`; `onOrder` gets the column and the direction to sort by. */
export function sortingBy<Name>(
  name: Name,
  order: Name | null,
  rising: boolean,
  onOrder: (order: Name, rising: boolean) => void,
): Sorting {
  return { sorted: sortedAs(name, order, rising), onSort: (next) => onOrder(name, next) }
}

export interface SortHeadingProps extends Sorting, ReturnType<typeof explained> {
  readonly children: ComponentChildren
}

/** The words of a column that sorts: a press puts the largest first, another one the smallest. */
export function SortHeading({ sorted, onSort, children, ...about }: SortHeadingProps) {
  return (
    <button
      {...about}
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
