import type { SingleCall } from '../../src/api/single-call.ts'
import { sessionAddress } from '../data/changed-address.ts'
import { type PageAddress, callsQuery, defaultAddress, isStatus } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'
import type { FacetValue } from '../filters/facets.ts'
import { counted } from '../format/figures.ts'

/** The most results of one kind. */
export const mostOfKind = 8

export interface FindResult {
  /** Unique among the results. */
  readonly key: string
  readonly words: string
  readonly note?: string | undefined
  /** The address of the result. */
  readonly to: PageAddress
}

/** The results of one kind, under a heading. */
export interface ResultKind {
  readonly name: string
  readonly results: readonly FindResult[]
}

type Call = Pick<SingleCall, 'id' | 'started_at' | 'model' | 'endpoint'>

/** The answers to the requests of a search; null for an answer that has not come yet. */
export interface Answers {
  readonly models: readonly FacetValue[]
  readonly clients: readonly FacetValue[]
  readonly sessions: readonly FacetValue[]
  /** The call with the typed id; undefined if no such call exists. */
  readonly call: Call | null | undefined
  /** The calls with the typed request id. */
  readonly calls: readonly Call[]
}

/**
 * Returns the text in lower case if it is a call's id (11 digits of Crockford's base32, at most 53 bits); else
 * null.
 */
export function callIdIn(text: string): string | null {
  const id = text.toLowerCase()
  return /^[0-7][0-9a-hjkmnp-tv-z]{10}$/.test(id) ? id : null
}

/** True if a text can be an upstream's request id: eight characters or more, without spaces, with a digit. */
export function mayBeRequestId(text: string): boolean {
  return /^(?=.*\d)\S{8,}$/.test(text)
}

/** Returns the API path for the calls with this upstream request id in the address's range. */
export function requestIdPath(address: PageAddress, id: string, nowMs: number): string {
  const query = callsQuery(defaultAddress, questionTime(address, nowMs), {
    upstream_request_id: id,
    limit: String(mostOfKind),
  })
  return `/api/query?${query}`
}

/** Returns the API path for the sessions of all times whose names contain the text. */
export function sessionsPath(text: string): string {
  return `/api/sessions?${new URLSearchParams({ limit: String(mostOfKind), ...(text !== '' && { q: text }) })}`
}

/** Returns the results for a text, the most certain first. `timeOf` formats the start of a call. */
export function resultsFor(
  text: string,
  address: PageAddress,
  { models, clients, sessions, call, calls }: Answers,
  timeOf: (startedMs: number) => string,
): readonly ResultKind[] {
  // The address gets no filters, because they could hide the found calls.
  const { range, utc } = address
  const inCalls = { ...defaultAddress, range, utc, view: 'calls' } as const
  const opened = (id: string): PageAddress =>
    address.view === 'calls' ? { ...address, call: id, tab: 'timing' } : { ...inCalls, call: id }
  const callOf = ({ id, started_at: startedAt, model, endpoint }: Call): FindResult => ({
    key: `call ${id}`,
    words: id,
    note: `${model ?? endpoint}, ${timeOf(Date.parse(startedAt))}`,
    to: opened(id),
  })
  const id = callIdIn(text)
  const ofId =
    id === null || call === undefined
      ? []
      : call === null
        ? [{ key: `call ${id}`, words: id, to: opened(id) }]
        : [callOf(call)]
  const ofStatus = isStatus(text)
    ? [{ key: 'status', words: `Calls with status ${text}`, to: { ...inCalls, statuses: [text] } }]
    : []
  const ofText =
    text === '' || id !== null
      ? []
      : [{ key: 'q', words: `Calls with failure code or trace “${text}”`, to: { ...inCalls, q: text } }]
  const searchText = text.toLowerCase()
  const isExact = ({ value }: FacetValue): number => Number(value.toLowerCase() === searchText)
  const resultsOf = (
    name: string,
    values: readonly FacetValue[],
    to: (value: string) => PageAddress,
  ): ResultKind => ({
    name,
    results: values
      .filter(({ value }) => value.toLowerCase().includes(searchText))
      // An exact name comes before names that contain the text.
      .sort((a, b) => isExact(b) - isExact(a))
      .slice(0, mostOfKind)
      .map(({ value, calls }) => ({
        key: `${name} ${value}`,
        words: value,
        note: counted(calls, 'call'),
        to: to(value),
      })),
  })
  return [
    { name: 'Calls', results: [...ofId, ...calls.map(callOf), ...ofStatus] },
    resultsOf('Models', models, (model) => ({ ...inCalls, models: [model] })),
    resultsOf('Clients', clients, (client) => ({ ...inCalls, clients: [client] })),
    // The sessions are not filtered by name, because the dashboard also finds them by failure codes of their calls.
    resultsOf('Sessions', sessions, (session) => ({ ...sessionAddress(session), utc })),
    { name: 'Filter', results: ofText },
  ].filter(({ results }) => results.length > 0)
}
