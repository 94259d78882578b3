import type { PageAddress } from '../data/page-address.ts'
import { roundDuration } from '../format/figures.ts'
import { type Facet, changeTo, chosenOf, facets, isInBar, valueWords } from './facets.ts'

/** A removable filter without a menu in the bar. */
export interface FilterChip {
  /** The kind of filter: `Client`. */
  readonly name: string
  readonly words: string
  /** True if the view does not filter by it; the chip says so. */
  readonly isIgnored: boolean
  /** The change of the address that removes the filter. */
  readonly without: Partial<PageAddress>
}

/**
 * Returns the filters of the address for which the view has no menu; in a report, which has no bar, all filters.
 * Live filters only by models, failures and text.
 */
export function filterChips(address: PageAddress, isReport = false): readonly FilterChip[] {
  const { view, errorsOnly, source, minMs, maxMs, q, ignored } = address
  const isLive = view === 'live'
  // An opened session shows all of its calls.
  const isOneSession = view === 'sessions' && address.session !== null
  const isWithoutBar = isReport || isOneSession
  const chips: FilterChip[] = []
  const add = (
    name: string,
    words: string,
    without: Partial<PageAddress>,
    isIgnored = isLive || isOneSession,
  ): void => {
    chips.push({ name: isIgnored ? `Not applied: ${name}` : name, words, isIgnored, without })
  }
  for (const facet of Object.keys(facets) as Facet[]) {
    // Live has a menu of models only, and Sessions shows the whole session.
    const hasMenu = isLive ? facet === 'model' : isInBar(facet)
    if ((hasMenu && !isWithoutBar) || (facet === 'session' && view === 'sessions')) continue
    const chosen = chosenOf(facet, address)
    for (const value of chosen) {
      add(facets[facet].name, valueWords(facet, value), changeTo(facet, except(chosen, value)))
    }
  }
  if (isWithoutBar && errorsOnly) add('Outcome', 'errors only', { errorsOnly: false })
  if (source !== null) add('Imported from', source, { source: null })
  if (minMs !== null || maxMs !== null) {
    add('Duration', durationWords(minMs, maxMs), { minMs: null, maxMs: null })
  }
  // In the Sessions view, `q` is not applied, because its search covers names only.
  if (q !== '') add('ID or code', q, { q: '' }, isLive || view === 'sessions')
  for (const name of ignored) chips.push({ name: 'Ignored', words: name, isIgnored: true, without: {} })
  return chips
}

function except<Value>(values: readonly Value[], removed: Value): readonly Value[] {
  return values.filter((other) => other !== removed)
}

function durationWords(minMs: number | null, maxMs: number | null): string {
  if (minMs === null) return `up to ${roundDuration(maxMs ?? 0)}`
  return maxMs === null
    ? `from ${roundDuration(minMs)}`
    : `${roundDuration(minMs)} to ${roundDuration(maxMs)}`
}
