import { lazyPart } from '../design/lazy-part.tsx'
import type { Shortcut } from '../design/keys.ts'
import { Popover } from '../design/popover.tsx'

/** For the keys that open them. */
const moreId = 'more-filters'
const viewsId = 'saved-views'

const FacetMenu = lazyPart(async () => (await import('./facet-menu.tsx')).FacetMenu)
const ViewsMenu = lazyPart(async () => (await import('./views-menu.tsx')).ViewsMenu)

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

/** Addresses that this reader has saved under a name. */
export function SavedViews() {
  return (
    <Popover id={viewsId} label="Saved views" icon="bookmark" title="Saved views (v)">
      {(close) => <ViewsMenu onOpen={close} />}
    </Popover>
  )
}

/** The keys of both menus. */
export const menuKeys: readonly Shortcut[] = [
  { key: 'f', words: 'More filters', run: () => document.getElementById(moreId)?.click() },
  { key: 'v', words: 'Saved views', run: () => document.getElementById(viewsId)?.click() },
]
