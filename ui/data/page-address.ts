import { tagKey, tagOf } from '../../src/call/call-question.ts'
import { type SessionSort, sessionSorts } from '../../src/call/call-session.ts'
import type { Curves } from '../../src/call/figures.ts'
import {
  type CallSort,
  type CallTab,
  type CallType,
  type Outcome,
  isCallSort,
  isCallTab,
  isCallType,
  isNameOf,
  isOutcome,
} from './call-text.ts'
import { type QuestionTime, type Range, lastRanges, timeQuery } from './page-range.ts'
import {
  type CompareColumnName,
  type PriceColumnName,
  type SpendColumnName,
  compareColumnNames,
  priceColumnNames,
  spendColumnNames,
} from './sorted-columns.ts'

/** The views, in the order of the top bar. */
const views = [
  'overview',
  'compare',
  'calls',
  'sessions',
  'live',
  'costs',
  'gateway',
  'alerts',
  'settings',
] as const

export type View = (typeof views)[number]

function ofEach(textOf: (view: View) => string): Readonly<Record<View, string>> {
  return Object.fromEntries(views.map((view) => [view, textOf(view)])) as Record<View, string>
}

export const viewPaths = ofEach((view) => (view === 'overview' ? '/' : `/${view}`))

export const viewWords = ofEach((view) => view.charAt(0).toUpperCase() + view.slice(1))

/** The fields that group calls and spend, in words. */
export const compareWords = { model: 'Model', client: 'Client', upstream_name: 'Upstream' } as const

/** A field, or a tag's key. */
export type CompareBy = keyof typeof compareWords | `tag:${string}`

/** Returns the heading of a grouping: `Model`, `Tag team`. */
export function byWords(by: CompareBy): string {
  return isField(by) ? compareWords[by] : `Tag ${tagOf(by)}`
}

const isField = isNameOf(compareWords)

function compareByOf(text: string): CompareBy | undefined {
  return isField(text) || /^tag:./.test(text) ? (text as CompareBy) : undefined
}

/** The measures whose percentiles Compare draws, in words. */
export const curveWords = {
  duration_ms: 'Latency',
  ttft_ms: 'First token',
  output_tokens_per_s: 'Tokens/s',
} as const satisfies Record<keyof Curves, string>

/** The earlier periods for comparison in the Overview, each as long as the range. */
export const againstWords = {
  previous: 'Previous period',
  day: 'Previous day',
  week: 'Previous week',
} as const

export type Against = keyof typeof againstWords

const namelessWords = {
  model: 'No model',
  client: 'Unknown client',
  upstream_name: 'Default upstream',
}

/** Returns the name of the group of calls without a value. */
export function namelessOf(by: CompareBy): string {
  return isField(by) ? namelessWords[by] : 'Without this tag'
}

const isLastRange = isNameOf(lastRanges)

/** The filters of an address without filters. */
const noFilters = {
  models: [] as readonly string[],
  callTypes: [] as readonly CallType[],
  errorsOnly: false,
  outcomes: [] as readonly Outcome[],
  failureCodes: [] as readonly string[],
  clients: [] as readonly string[],
  upstreams: [] as readonly string[],
  /** Each is `key:value`. */
  tags: [] as readonly string[],
  /** HTTP statuses as digits. */
  statuses: [] as readonly string[],
  /** The least and the longest duration in milliseconds, both inclusive. */
  minMs: null as number | null,
  maxMs: null as number | null,
  /** An exact id or error code; empty for none. */
  q: '',
  /** The source of imported calls; null for all calls. */
  source: null as string | null,
}

/** The parts of an address that a change of the view resets. */
export const viewReset = {
  /** The session that the Sessions view shows, or by which other views filter; null for all. */
  session: null as string | null,
  sort: 'started_at' as CallSort,
  /** The id of the call in the panel. */
  call: null as string | null,
  /** The tab of the call panel. */
  tab: 'timing' as CallTab,
  /** The search text for payloads in Live, or for names of sessions; empty for none. */
  text: '',
  /** The field that groups calls or spend. */
  by: 'model' as CompareBy,
  /** For Compare: the measure of the curves, and the groups with a curve. No `lines` selects the first groups. */
  measure: 'duration_ms' as keyof Curves,
  lines: [] as readonly string[],
  /** The column that sorts Compare, Sessions or Costs; null for the default. */
  order: null as CompareColumnName | SessionSort | SpendColumnName | null,
  /** True if the smallest value comes first. */
  rising: false,
  /** The value of `rising` in the list from which the session was opened. */
  listRising: false,
  /** The earlier period for comparison in the Overview; null for none. */
  against: null as Against | null,
  /** A text in the names of the listed prices; empty lists the prices of the range's calls. */
  price: '',
  /** The column that sorts the prices; null for the default. `priceRising` puts the smallest first. */
  priceOrder: null as PriceColumnName | null,
  priceRising: false,
}

/** The address of a bare `/`. */
export const defaultAddress = {
  view: 'overview' as View,
  /** The default range, recognized by this object: an equal range that a user chose is written into the address. */
  range: { last: '24h' } as Range,
  /** True if times are in UTC, not in the reader's zone. */
  utc: false,
  /** The names of unknown parameters and of those with an invalid value. The page shows them. */
  ignored: [] as readonly string[],
  ...noFilters,
  ...viewReset,
}

type Fields = typeof defaultAddress

/**
 * The page's only state: a link shows others the same page, and Back restores the previous one. Filters and `sort`
 * have the names of `/api/query`.
 */
export type PageAddress = Readonly<Fields>

/** A parameter of the query. */
interface Parameter {
  /** Sets a field from a value; returns false if the value is invalid. */
  readonly read: (fields: Fields, value: string) => boolean
  /** Returns the values to write; empty for the default. */
  readonly write: (address: PageAddress) => readonly string[]
  /** The views that use the parameter (default: all). */
  readonly views?: readonly View[]
}

type ListName =
  | 'models'
  | 'clients'
  | 'upstreams'
  | 'tags'
  | 'statuses'
  | 'failureCodes'
  | 'callTypes'
  | 'outcomes'
  | 'lines'
type PlainName = Exclude<keyof PageAddress, ListName | 'range' | 'ignored'>

/** Returns a parameter of one value. `parse` returns undefined for an invalid value. */
function single<Name extends PlainName>(
  name: Name,
  parse: (value: string) => PageAddress[Name] | undefined,
): Parameter {
  return {
    read: (fields, value) => {
      const parsed = parse(value)
      if (parsed !== undefined) fields[name] = parsed
      return parsed !== undefined
    },
    write: ({ [name]: value }) => (value === defaultAddress[name] ? [] : [String(value)]),
  }
}

/** Returns a parameter that may be repeated. `isOne` checks a value. */
function many(name: ListName, isOne: (value: string) => boolean): Parameter {
  return {
    read: (fields, value) => {
      const list = new Set<string>(fields[name]).add(value)
      if (isOne(value)) fields[name] = [...list] as never
      return isOne(value)
    },
    write: ({ [name]: values }) => values,
  }
}

const isGiven = (text: string): boolean => text !== ''
const onlyIf =
  <Value extends string>(isOne: (text: string) => text is Value) =>
  (text: string): Value | undefined =>
    isOne(text) ? text : undefined
const truth: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false }

/** The filters of the dashboard's API, under the same names. */
const filters: Readonly<Record<string, Parameter>> = {
  model: many('models', isGiven),
  call_type: many('callTypes', isCallType),
  outcome: many('outcomes', isOutcome),
  failure_code: many('failureCodes', isGiven),
  client: many('clients', isGiven),
  upstream_name: many('upstreams', isGiven),
  session: single('session', (text) => (text === '' ? undefined : text)),
  source: single('source', (text) => (text === '' ? undefined : text)),
  tag: many('tags', (text) => text.includes(':')),
  status: many('statuses', isStatus),
  errors_only: single('errorsOnly', (text) => truth[text]),
  min_ms: single('minMs', millisecondsOf),
  max_ms: single('maxMs', millisecondsOf),
  q: single('q', (text) => text.trim()),
}

const others: Readonly<Record<string, Parameter>> = {
  sort: single('sort', onlyIf(isCallSort)),
  call: single('call', (text) => (/^[0-9a-z]{11}$/.test(text) ? text : undefined)),
  tab: single('tab', onlyIf(isCallTab)),
  text: { ...single('text', (text) => text), views: ['live', 'sessions'] },
  by: { ...single('by', compareByOf), views: ['compare', 'costs'] },
  measure: { ...single('measure', onlyIf(isNameOf(curveWords))), views: ['compare'] },
  order: {
    ...single('order', (text) =>
      [...compareColumnNames, ...sessionSorts, ...spendColumnNames].find((name) => name === text),
    ),
    views: ['compare', 'sessions', 'costs'],
  },
  rising: { ...single('rising', (text) => truth[text]), views: ['compare', 'calls', 'sessions', 'costs'] },
  list_rising: { ...single('listRising', (text) => truth[text]), views: ['sessions'] },
  line: { ...many('lines', () => true), views: ['compare'] },
  against: { ...single('against', onlyIf(isNameOf(againstWords))), views: ['overview'] },
  price: { ...single('price', (text) => text), views: ['costs'] },
  price_order: {
    ...single('priceOrder', (text) => priceColumnNames.find((name) => name === text)),
    views: ['costs'],
  },
  price_rising: { ...single('priceRising', (text) => truth[text]), views: ['costs'] },
  tz: {
    read: (fields, value) => (fields.utc = value === 'utc'),
    write: ({ utc }) => (utc ? ['utc'] : []),
  },
}

const parameters = { ...filters, ...others }

/** Reads an address; null if the path is no view. Invalid and unknown parameters are only named in `ignored`. */
export function readAddress(path: string, query: URLSearchParams): PageAddress | null {
  const view = (Object.keys(viewPaths) as View[]).find((name) => viewPaths[name] === path)
  if (view === undefined) return null
  const fields: Fields = { ...defaultAddress, view }
  const ignored = new Set<string>()
  const byName = new Map(Object.entries(parameters))
  for (const [name, value] of query) {
    if (name === 'from' || name === 'to' || (name === 'range' && isLastRange(value))) continue
    const parameter = byName.get(name)
    const isKnown = parameter !== undefined && isOf(parameter, view)
    if (!isKnown || !parameter.read(fields, value)) ignored.add(name)
  }
  const last = query.getAll('range').findLast(isLastRange)
  if (last !== undefined) fields.range = { last }
  readBounds(fields, query, ignored)
  return { ...fields, ignored: [...ignored] }
}

/** Returns the path and query of an address. Defaults are left out, so that links stay short. */
export function writeAddress(address: PageAddress): string {
  const query = new URLSearchParams()
  if (address.range.last === null) {
    query.set('from', isoOf(address.range.fromMs))
    query.set('to', isoOf(address.range.toMs))
  } else if (address.range !== defaultAddress.range) query.set('range', address.range.last)
  write(query, parameters, address)
  // A colon and a slash need no escape in a query (RFC 3986, 3.4). Dates and models are easier to read with them.
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2F', '/')
  return text === '' ? viewPaths[address.view] : `${viewPaths[address.view]}?${text}`
}

function write(
  query: URLSearchParams,
  parameters: Readonly<Record<string, Parameter>>,
  address: PageAddress,
): void {
  for (const [name, parameter] of Object.entries(parameters)) {
    if (!isOf(parameter, address.view)) continue
    for (const value of parameter.write(address)) query.append(name, value)
  }
}

function isOf({ views }: Parameter, view: View): boolean {
  return views === undefined || views.includes(view)
}

/** Returns the API's parameters for the calls of an address: time, filters and `rest`. */
export function callsQuery(
  address: PageAddress,
  time: QuestionTime,
  rest: Readonly<Record<string, string>> = {},
): URLSearchParams {
  const query = timeQuery(time)
  write(query, filters, address)
  for (const [name, value] of Object.entries(rest)) query.set(name, value)
  return query
}

/** Returns the filters as a query string. */
function filterText(address: PageAddress): string {
  const query = new URLSearchParams()
  write(query, filters, address)
  return query.toString()
}

/** True if any filter but the range is set. */
export function isFiltered(address: PageAddress): boolean {
  return filterText(address) !== ''
}

/** Returns the key of a request: filters, range and zone of an address, and what else changes the answer. */
export function queryKey(address: PageAddress, ...rest: readonly unknown[]): string {
  return JSON.stringify([filterText(address), address.range, address.utc, ...rest])
}

/** Returns an address without its filters, except the range. */
export function withoutFilters(address: PageAddress): PageAddress {
  const session = address.view === 'sessions' ? address.session : null
  return { ...address, ...noFilters, session, text: '', ignored: [] }
}

/** Returns the filter for the calls of one group. `tags` are the filters by other tag keys, which stay. */
export function filterOf(by: CompareBy, name: string, tags: readonly string[]): Partial<PageAddress> {
  const key = tagOf(by)
  if (!isField(by)) return { tags: [...tags.filter((tag) => tagKey(tag) !== key), `${key}:${name}`] }
  const filters = {
    model: { models: [name] },
    client: { clients: [name] },
    upstream_name: { upstreams: [name] },
  }
  return filters[by]
}

function readBounds(fields: Fields, query: URLSearchParams, ignored: Set<string>): void {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return
  const fromMs = instantOf(from)
  const toMs = instantOf(to)
  if (fromMs !== null && toMs !== null && fromMs < toMs) fields.range = { last: null, fromMs, toMs }
  else for (const [name, value] of Object.entries({ from, to })) if (value !== null) ignored.add(name)
}

/** True for a three-digit status that `/api/query` accepts. */
export function isStatus(text: string): boolean {
  return /^[1-5]\d\d$/.test(text)
}

function millisecondsOf(text: string): number | undefined {
  return /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined
}

/**
 * Parses an instant with an offset; null for other texts. Without an offset, the text would mean another instant to
 * another reader.
 */
function instantOf(text: string | null): number | null {
  if (text === null || !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) || ms < 0 ? null : ms
}

/** Returns the instant in ISO 8601, without milliseconds if they are 0. */
function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
