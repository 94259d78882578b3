import type { ComponentChildren } from 'preact'
import { Icon } from '../icon.tsx'
import type { explained } from '../meanings.ts'

/** The value of `aria-sort`; undefined for a column that does not sort. */
export type Sorted = 'ascending' | 'descending' | undefined

/** Returns the sorting of the column `name` in a table sorted by `order`. */
export function sortedAs<Name>(name: Name, order: Name, rising: boolean): Sorted {
  if (name !== order) return undefined
  return rising ? 'ascending' : 'descending'
}

export interface SortHeadingProps extends ReturnType<typeof explained> {
  readonly sorted: Sorted
  readonly onSort: (rising: boolean) => void
  readonly children: ComponentChildren
}

/** A heading that sorts. The first press puts the largest first, the next one the smallest. */
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
