import './filters.css'
import type { ComponentChildren } from 'preact'
import { isYesterday } from '../data/calendar-ranges.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { isFiltered, defaultAddress, withoutFilters } from '../data/page-address.ts'
import { calendarRange } from '../data/page-range.ts'
import type { QueryState } from '../data/use-query.ts'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { Segments } from '../design/form/segments.tsx'
import { useMedia } from '../design/use-window.ts'
import { useDelayed } from '../design/use-delayed.ts'
import { useShortcuts } from '../design/keys.ts'
import { filterChips } from './filter-chips.ts'
import {
  ErrorsFilter,
  KindFilter,
  ModelFilter,
  MoreFilters,
  filterKeys,
  moreFiltersKey,
} from './choice-filters.tsx'
import { RangeFilter } from './range-filter.tsx'

/**
 * The time (ms) before a running request is mentioned. Most answers come sooner, and a flickering text would
 * disturb.
 */
const silentMs = 600
/** The time after which a line shows that a request is still running. */
const longMs = 5000

const rangeTitles = {
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  Yesterday: 'The previous calendar day',
}

type RangeName = keyof typeof rangeTitles

const rangeNames = Object.keys(rangeTitles) as RangeName[]
export interface FilterBarProps {
  /** The request of the view. */
  readonly query: QueryState<Pick<CallsAnswer, 'available_models' | 'available_types'>>
  /** Further controls of the view. */
  readonly children?: ComponentChildren
  /** Content beside the button that loads again. */
  readonly actions?: ComponentChildren
}

/** The filters of the view, and the age of its data. The address contains every choice. */
export function FilterBar({ query, children, actions }: FilterBarProps) {
  const { answer, isLoading, again } = query
  const navigation = useNavigation()
  const { address, go } = navigation
  const { range, utc } = address
  // In windows between these widths, the button would begin a second row.
  const hasYesterday = useMedia('(width < 40rem) or (width >= 72rem)')
  const shown = isYesterday(range, nowMs(), utc) ? 'Yesterday' : range.last
  const choose = (name: RangeName): void =>
    go({ range: name === 'Yesterday' ? calendarRange(name, nowMs(), utc) : { last: name } })
  const buttons = rangeNames.filter((name) => hasYesterday || name !== 'Yesterday')
  const isLong = useDelayed(isLoading, longMs)
  useShortcuts('Filters', [
    ...rangeNames.map((name, at) => ({
      key: String(at + 1),
      words: rangeTitles[name],
      run: () => choose(name),
    })),
    ...filterKeys(navigation),
    moreFiltersKey,
    { key: 'r', words: 'Refresh', run: again },
  ])
  return (
    <div class="filter-bar row wraps" role="group" aria-label="Filters">
      <div class="filter-choices row wraps">
        <div class="filter-ranges row">
          <Segments
            label="Time range"
            words={Object.fromEntries(buttons.map((name) => [name, name])) as Record<RangeName, string>}
            titles={rangeTitles}
            chosen={rangeNames.find((name) => name === shown) ?? null}
            onChoose={choose}
          />
          <RangeFilter isYesterdayBeside={hasYesterday} />
        </div>
        <ModelFilter models={answer?.available_models ?? []} />
        <KindFilter types={answer?.available_types ?? []} />
        <ErrorsFilter />
        <MoreFilters />
        {children}
        <FilterChips />
      </div>
      <UpdateStamp query={query} actions={actions} />
      {isLong && <div class="filter-progress" role="progressbar" aria-label="Loading" />}
    </div>
  )
}

/** Chips for filters without a menu, and for ignored ones, with a button that clears all filters. */
export function FilterChips() {
  const { address, go } = useNavigation()
  const { text } = defaultAddress
  const isBare = !isFiltered(address) && address.text === text && address.ignored.length === 0
  const chips = filterChips(address)
  return (
    <>
      {chips.length > 0 && (
        <div class="filter-chips row">
          {chips.map(({ name, words, isIgnored, without }) => (
            <div
              key={`${name} ${words}`}
              class={`filter-chip row ${isIgnored ? 'warn' : 'accent'}`}
              title={isIgnored ? 'This view does not filter by this.' : words}
            >
              <span class="cut">
                <span class={isIgnored ? '' : 'quiet'}>{name}:</span> {words}
              </span>
              <button type="button" aria-label={`Remove ${name}: ${words}`} onClick={() => go(without)}>
                <Icon name="close" size={14} />
              </button>
            </div>
          ))}
        </div>
      )}
      {!isBare && (
        <Button kind="bare" onClick={() => go(withoutFilters(address))}>
          Clear all
        </Button>
      )}
    </>
  )
}

/** The age of the data, and a button that loads it again. */
function UpdateStamp({ query, actions }: FilterBarProps) {
  const { answer, answeredMs, isLoading, error, again } = query
  const times = useTimes()
  const isLong = useDelayed(isLoading, silentMs)
  const at = answeredMs === null ? null : times.short(answeredMs) + times.suffix
  // Without an answer, the view shows the error in its place.
  if (error !== null && answer !== null) {
    return (
      <div class="update-stamp row fine at-end bad">
        <Icon name="warning" />
        <span role="alert">
          {at === null ? '' : `Not updated since ${at}. `}
          {error}
        </span>
        <Button small onClick={again}>
          Try again
        </Button>
      </div>
    )
  }
  const state = isLong ? (at === null ? 'Loading…' : 'Refreshing…') : at === null ? '' : `Updated ${at}`
  return (
    <div class="update-stamp row fine at-end">
      <span class="cut" title={answeredMs === null ? undefined : times.inUtc(answeredMs)}>
        {state}
      </span>
      <div class="update-actions edge-buttons">
        {actions}
        <Button kind="bare" icon="refresh" label="Refresh" title="Refresh (r)" onClick={again} />
      </div>
    </div>
  )
}
