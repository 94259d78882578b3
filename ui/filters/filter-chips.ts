import { type PageAddress, plainAddress } from '../data/page-address.ts'
import { failureCodeWords } from '../data/failure-words.ts'
import { roundDuration } from '../format/figures.ts'

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
  const {
    view,
    range,
    clients,
    upstreams,
    session,
    source,
    tags,
    failureCodes,
    statuses,
    minMs,
    maxMs,
    q,
    ignored,
  } = address
  const chips: FilterChip[] = []
  const add = (name: string, words: string, without: Partial<PageAddress>): void => {
    chips.push({ name, words, isIgnored: false, without })
  }
  if (range.last === null) add('Time', rangeWords(range.fromMs, range.toMs), { range: plainAddress.range })
  for (const code of failureCodes) {
    add('Failure', failureCodeWords(code), { failureCodes: failureCodes.filter((other) => other !== code) })
  }
  for (const status of statuses) {
    add('Status', status, { statuses: statuses.filter((other) => other !== status) })
  }
  for (const client of clients) {
    add('Client', client, { clients: clients.filter((other) => other !== client) })
  }
  for (const upstream of upstreams) {
    add('Upstream', upstream, { upstreams: upstreams.filter((other) => other !== upstream) })
  }
  if (session !== null && view !== 'sessions') add('Session', session, { session: null })
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
