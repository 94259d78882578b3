import { useEffect, useState } from 'preact/hooks'
import { nowMs } from '../data/dashboard-clock.ts'
import { failureCodeWords } from '../data/failure-text.ts'
import { type PageAddress, type View, callsQuery, defaultAddress, queryKey } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'
import { type QueryState, useQuery } from '../data/use-query.ts'

/** The fields that calls can be filtered by, under the API's names. */
export const facets = {
  model: { name: 'Model', singular: 'model', plural: 'models', field: 'models' },
  client: { name: 'Client', singular: 'client', plural: 'clients', field: 'clients' },
  upstream_name: { name: 'Upstream', singular: 'upstream', plural: 'upstreams', field: 'upstreams' },
  tag: { name: 'Tag', singular: 'tag', plural: 'tags', field: 'tags' },
  session: { name: 'Session', singular: 'session', plural: 'sessions', field: 'session' },
  status: { name: 'Status', singular: 'status', plural: 'statuses', field: 'statuses' },
  failure_code: { name: 'Failure', singular: 'failure', plural: 'failures', field: 'failureCodes' },
} as const

export type Facet = keyof typeof facets

/** Facets without a menu of their own. In Sessions, the session of the address is the one shown, not a filter. */
const elsewhere: Partial<Record<View, readonly Facet[]>> = {
  calls: ['client', 'upstream_name', 'failure_code'],
  sessions: ['session'],
}

/** The facets of a view that it has no menu for. */
export function facetsOf({ view }: Pick<PageAddress, 'view'>): readonly Facet[] {
  return (Object.keys(facets) as Facet[]).filter(
    (facet) => facet !== 'model' && elsewhere[view]?.includes(facet) !== true,
  )
}

/** The values that the address filters by. */
export function chosenOf(facet: Facet, address: PageAddress): readonly string[] {
  const chosen = address[facets[facet].field]
  return typeof chosen === 'string' ? [chosen] : (chosen ?? [])
}

/** The change of the address that filters by these; of several sessions by the last, as it holds one. */
export function changeTo(facet: Facet, chosen: readonly string[]): Partial<PageAddress> {
  return facet === 'session' ? { session: chosen.at(-1) ?? null } : { [facets[facet].field]: chosen }
}

/** The address without its filter of this facet, so that other values are found too. */
export function withoutFacet(facet: Facet, address: PageAddress): PageAddress {
  return { ...address, [facets[facet].field]: defaultAddress[facets[facet].field] }
}

/** The path of a facet's values in the range and other filters of an address; for sessions, those that contain `text`. */
export function facetPath(facet: Facet, address: PageAddress, text: string): string {
  const time = questionTime(address, nowMs())
  const others = withoutFacet(facet, address)
  if (facet !== 'session') {
    // Calls are grouped by sets of tags.
    const group_by = facet === 'tag' ? 'tags' : facet
    return `/api/query?${callsQuery(others, time, { group_by, measures: 'none' })}`
  }
  // Groups by session reach over seven days at most, this list over any range.
  const query = callsQuery(others, time)
  query.delete('q')
  if (text !== '') query.set('q', text)
  return `/api/sessions?${query}`
}

/** A value of a filter, with its number of calls. */
export interface FacetValue {
  readonly value: string
  readonly calls: number
}

/** The values of a filter. */
export interface FacetAnswer {
  /** Values with most calls first; sessions by their last call. */
  readonly values: readonly FacetValue[]
  /** True if there are more values than the answer has. */
  readonly isCut: boolean
}

interface FacetReply {
  readonly group_by?: string
  readonly groups?: readonly {
    readonly key: string | number | null
    readonly calls: number
    readonly rest?: true
  }[]
  readonly sessions?: readonly { readonly session: string; readonly calls: number }[]
  readonly next_cursor?: string | null
}

/** Reads any of the answers. Calls without a value are left out: the API cannot filter by none. */
export function readFacet(text: string): FacetAnswer {
  const { group_by: groupBy, groups = [], sessions, next_cursor = null } = JSON.parse(text) as FacetReply
  const isCut = next_cursor !== null || groups.some(({ rest }) => rest === true)
  if (sessions !== undefined)
    return { values: sessions.map(({ session, calls }) => ({ value: session, calls })), isCut }
  const counts = new Map<string, number>()
  for (const { key, calls, rest } of groups) {
    if (key === null || rest === true) continue
    const values = groupBy === 'tags' ? String(key).split(',') : [String(key)]
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + calls)
  }
  const values = [...counts].map(([value, calls]) => ({ value, calls }))
  return { values: values.sort((a, b) => b.calls - a.calls), isCut }
}

/** The values listed: values of the address that the answer lacks first, then the answer's; only those that contain `text`. */
export function listedValues(
  facet: Facet,
  listed: readonly FacetValue[],
  named: readonly string[],
  text: string,
): readonly { readonly value: string; readonly words: string; readonly calls: number | null }[] {
  const listedNames = new Set(listed.map(({ value }) => value))
  const unknown = named.filter((value) => !listedNames.has(value)).map((value) => ({ value, calls: null }))
  const isFound = (words: string): boolean => words.toLowerCase().includes(text.toLowerCase())
  return [...unknown, ...listed]
    .map(({ value, calls }) => ({ value, calls, words: valueWords(facet, value) }))
    .filter(
      ({ value, words }) =>
        // A session is found by more than its name: by the id of a call.
        isFound(value) || isFound(words) || (facet === 'session' && listedNames.has(value)),
    )
}

/** A value as a person says it. */
export function valueWords(facet: Facet, value: string): string {
  return facet === 'failure_code' ? failureCodeWords(value) : value
}

/** Asks for the values of a facet in the range and the other filters of an address; of sessions, those with `text`. */
export function useFacet(facet: Facet, address: PageAddress, text: string = ''): QueryState<FacetAnswer> {
  return useQuery<FacetAnswer>(
    queryKey(withoutFacet(facet, address), facet, text),
    () => facetPath(facet, address, text),
    { read: readFacet },
  )
}

/** The text after it has not changed for `afterMs` milliseconds. */
export function useSettled(text: string, afterMs: number): string {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), afterMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
