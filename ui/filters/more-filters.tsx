import { lazyPart } from '../design/lazy-part.tsx'
import type { Shortcut } from '../design/keys.ts'
import { Popover } from '../design/popover.tsx'

/** For the key that opens it. */
const moreId = 'more-filters'

const FacetMenu = lazyPart(async () => (await import('./facet-menu.tsx')).FacetMenu)

/** Filters by what is asked for less often: clients, sessions, statuses and others. */
export function MoreFilters() {
  return (
    <Popover
      id={moreId}
      label="More filters"
      // A session's name on one line.
      widthPx={352}
      words={
        <span>
          More<span class="filter-more-words"> filters</span>
        </span>
      }
    >
      {() => <FacetMenu />}
    </Popover>
  )
}

/** The key of that menu. */
export const moreFiltersKey: Shortcut = {
  key: 'f',
  words: 'More filters',
  run: () => document.getElementById(moreId)?.click(),
}
