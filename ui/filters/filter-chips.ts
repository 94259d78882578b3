import { type PageAddress, plainAddress } from '../data/page-address.ts'
import { roundDuration } from '../format/figures.ts'
import { type Facet, changeTo, chosenOf, facets, valueWords } from './facets.ts'

/** A filter that has no control of its own in the bar, and can be taken away. */
export interface FilterChip {
  /** What kind of filter it is: `Client`. */
  readonly name: string
  readonly words: string
  /** Whether it means nothing and only tells so. */
  readonly isIgnored: boolean
  /** The change of the address that takes it away. */
  readonly without: Partial<PageAddress>
}

/** What the address filters by besides models, types and outcomes. `rangeWords` tells a range of two instants. */
export function filterChips(
  address: PageAddress,
  rangeWords: (fromMs: number, toMs: number) => string,
): readonly FilterChip[] {
  const { view, range, source, tags, minMs, maxMs, q, ignored } = address
  const chips: FilterChip[] = []
  const add = (name: string, words: string, without: Partial<PageAddress>): void => {
    chips.push({ name, words, isIgnored: false, without })
  }
  if (range.last === null) add('Time', rangeWords(range.fromMs, range.toMs), { range: plainAddress.range })
  for (const facet of Object.keys(facets) as Facet[]) {
    // The bar has a menu of models, and Sessions shows the session as a whole.
    if (facet === 'model' || (facet === 'session' && view === 'sessions')) continue
    const chosen = chosenOf(facet, address)
    for (const value of chosen) {
      const others = chosen.filter((other) => other !== value)
      add(facets[facet].name, valueWords(facet, value), changeTo(facet, others))
    }
  }
  if (source !== null) add('Imported from', source, { source: null })
  for (const tag of tags) add('Tag', tag, { tags: tags.filter((other) => other !== tag) })
  if (minMs !== null || maxMs !== null) {
    add('Duration', durationWords(minMs, maxMs), { minMs: null, maxMs: null })
  }
  if (q !== '') add('Id or code', q, { q: '' })
  for (const name of ignored) chips.push({ name: 'Ignored', words: name, isIgnored: true, without: {} })
  return chips
}

function durationWords(minMs: number | null, maxMs: number | null): string {
  if (minMs === null) return `up to ${roundDuration(maxMs ?? 0)}`
  return maxMs === null
    ? `from ${roundDuration(minMs)}`
    : `${roundDuration(minMs)} to ${roundDuration(maxMs)}`
}
