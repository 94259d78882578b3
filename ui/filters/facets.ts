import { useEffect, useState } from 'preact/hooks'
import type { CallGroups } from '../../src/api/calls.ts'
import type { Sessions } from '../../src/api/sessions.ts'
import { callTypeWords, isCallType, isOutcome, outcomeWords } from '../data/call-text.ts'
import { failureCodeWords } from '../data/failure-text.ts'
import { type PageAddress, type View, callsQuery, defaultAddress } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'
import { type QueryState, useQuery } from '../data/use-query.ts'

/** The fields that filter calls, under the API's names. */
export const facets = {
  model: { name: 'Model', singular: 'model', plural: 'models', field: 'models' },
  call_type: { name: 'Type', singular: 'type', plural: 'types', field: 'callTypes' },
  outcome: { name: 'Outcome', singular: 'outcome', plural: 'outcomes', field: 'outcomes' },
  client: { name: 'Client', singular: 'client', plural: 'clients', field: 'clients' },
  upstream_name: { name: 'Upstream', singular: 'upstream', plural: 'upstreams', field: 'upstreams' },
  tag: { name: 'Tag', singular: 'tag', plural: 'tags', field: 'tags' },
  session: { name: 'Session', singular: 'session', plural: 'sessions', field: 'session' },
  status: { name: 'Status', singular: 'status', plural: 'statuses', field: 'statuses' },
  failure_code: { name: 'Failure', singular: 'failure', plural: 'failures', field: 'failureCodes' },
} as const

export type Facet = keyof typeof facets

/**
 * Facets with a control elsewhere in the view. In Sessions, the session of the address is the one shown, not a
 * filter.
 */
const elsewhere: Partial<Record<View, readonly Facet[]>> = {
  calls: ['client', 'upstream_name', 'failure_code'],
  sessions: ['session'],
}

/** Returns the facets in the menu of further filters of a view. */
export function facetsOf({ view }: Pick<PageAddress, 'view'>): readonly Facet[] {
  return (Object.keys(facets) as Facet[]).filter(
    (facet) => !isInBar(facet) && elsewhere[view]?.includes(facet) !== true,
  )
}

/** True if the bar of filters has a menu of the facet. */
export function isInBar(facet: Facet): boolean {
  return facet === 'model' || facet === 'call_type' || facet === 'outcome'
}

/** Returns the values by which the address filters. */
export function chosenOf(facet: Facet, address: PageAddress): readonly string[] {
  const chosen = address[facets[facet].field]
  return typeof chosen === 'string' ? [chosen] : (chosen ?? [])
}

/**
 * Returns the change of the address that filters by these values. The address can hold one session only, so the
 * last one applies.
 */
export function changeTo(facet: Facet, chosen: readonly string[]): Partial<PageAddress> {
  return facet === 'session' ? { session: chosen.at(-1) ?? null } : { [facets[facet].field]: chosen }
}

/** Returns the address without its filter of this facet, so that other values are found, too. */
function withoutFacet(facet: Facet, address: PageAddress): PageAddress {
  return { ...address, [facets[facet].field]: defaultAddress[facets[facet].field] }
}

/**
 * Returns the API path for a facet's values in the range and other filters of an address. Sessions are limited to
 * names that contain `text`.
 */
export function facetPath(facet: Facet, address: PageAddress, text: string, nowMs: number): string {
  const time = questionTime(address, nowMs)
  const others = withoutFacet(facet, address)
  if (facet !== 'session') {
    // Calls are grouped by sets of tags.
    const group_by = facet === 'tag' ? 'tags' : facet
    return `/api/query?${callsQuery(others, time, { group_by, measures: 'none' })}`
  }
  // Groups by session cover at most seven days; the list of sessions covers any range.
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
  /** The values with most calls first; sessions by their last call. */
  readonly values: readonly FacetValue[]
  /** True if more values exist. */
  readonly isCut: boolean
}

/** Parses an answer for either path. Calls without a value are left out, because the API cannot filter by them. */
export function readFacet(text: string): FacetAnswer {
  const {
    group_by: groupBy,
    groups = [],
    sessions,
    next_cursor = null,
  } = JSON.parse(text) as Partial<CallGroups & Sessions>
  const isCut = next_cursor !== null || groups.some(({ rest }) => rest === true)
  if (sessions !== undefined)
    return { values: sessions.map(({ session, calls }) => ({ value: session, calls })), isCut }
  const counts = new Map<string, number>()
  for (const group of groups) {
    if (!('key' in group) || group.key === null || group.rest === true) continue
    const key = String(group.key)
    const values = groupBy === 'tags' ? key.split(',') : [key]
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + group.calls)
  }
  const values = [...counts].map(([value, calls]) => ({ value, calls }))
  return { values: values.sort((a, b) => b.calls - a.calls), isCut }
}

/**
 * Returns the values to list, if they contain `text`. Values of the address that the answer lacks come first, and
 * further ones last.
 */
export function listedValues(
  facet: Facet,
  listed: readonly FacetValue[],
  named: readonly string[],
  also: readonly string[],
  text: string,
): readonly { readonly value: string; readonly words: string; readonly calls: number | null }[] {
  const listedNames = new Set(listed.map(({ value }) => value))
  const missing = new Set([...named, ...also].filter((value) => !listedNames.has(value)))
  const unknown = Array.from(missing, (value) => ({ value, calls: null }))
  const isNamed = ({ value }: { readonly value: string }): boolean => named.includes(value)
  const isFound = (words: string): boolean => words.toLowerCase().includes(text.toLowerCase())
  return [...unknown.filter(isNamed), ...listed, ...unknown.filter((row) => !isNamed(row))]
    .map(({ value, calls }) => ({ value, calls, words: valueWords(facet, value) }))
    .filter(
      ({ value, words }) =>
        // The dashboard also finds a session by a call's id, so its name may lack the text.
        isFound(value) || isFound(words) || (facet === 'session' && listedNames.has(value)),
    )
}

/** Returns a value in words. */
export function valueWords(facet: Facet, value: string): string {
  if (facet === 'call_type') return isCallType(value) ? callTypeWords[value] : value
  if (facet === 'outcome') return isOutcome(value) ? outcomeWords[value] : value
  return facet === 'failure_code' ? failureCodeWords(value) : value
}

/**
 * Requests the values of a facet in the range and other filters of an address. Sessions are limited to names that
 * contain `text`.
 */
export function useFacet(facet: Facet, address: PageAddress, text: string = ''): QueryState<FacetAnswer> {
  return useQuery<FacetAnswer>((nowMs) => facetPath(facet, address, text, nowMs), { read: readFacet })
}

/** Returns the text after it has not changed for `afterMs` milliseconds. */
export function useSettled(text: string, afterMs: number): string {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), afterMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
