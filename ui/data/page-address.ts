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

/** A part of the address, which is a parameter of the query. */
interface Part<Value> {
  /** The name of the parameter. */
  readonly name: string
  /** The value that is not written. */
  readonly usual: Value
  /** The views that use the parameter (default: all). */
  readonly views: readonly View[] | undefined
  /** Returns the value after a further parameter; undefined if its text is invalid. */
  read(text: string, before: Value): Value | undefined
  /** Returns the texts of the parameters. */
  write(value: Value): readonly string[]
}

/** The values of the parts in a table. */
type ValuesOf<Parts> = {
  readonly [Name in keyof Parts]: Parts[Name] extends Part<infer Value> ? Value : never
}

/** Returns a part of one value. `read` returns undefined for an invalid text. */
function single<Value>(
  name: string,
  usual: Value,
  read: (text: string) => Value | undefined,
  views?: readonly View[],
): Part<Value> {
  return { name, usual, views, read, write: (value) => (value === usual ? [] : [String(value)]) }
}

/** Returns a part whose parameter may be repeated. `isOne` checks a text. */
function many<One extends string>(
  name: string,
  isOne: (text: string) => boolean,
  views?: readonly View[],
): Part<readonly One[]> {
  return {
    name,
    usual: [],
    views,
    read: (text, before) => (isOne(text) ? [...new Set(before).add(text as One)] : undefined),
    write: (values) => values,
  }
}

const isGiven = (text: string): boolean => text !== ''
const given = (text: string): string | undefined => text || undefined
const onlyIf =
  <Value extends string>(isOne: (text: string) => text is Value) =>
  (text: string): Value | undefined =>
    isOne(text) ? text : undefined
const truths = new Map(Object.entries({ true: true, 1: true, false: false, 0: false }))
const truth = (text: string): boolean | undefined => truths.get(text)

/** The filters of the dashboard's API, under the same names. */
const filters = {
  models: many('model', isGiven),
  callTypes: many<CallType>('call_type', isCallType),
  outcomes: many<Outcome>('outcome', isOutcome),
  failureCodes: many('failure_code', isGiven),
  clients: many('client', isGiven),
  upstreams: many('upstream_name', isGiven),
  /** The session that the Sessions view shows, or by which other views filter; null for all. */
  session: single<string | null>('session', null, given),
  /** The source of imported calls; null for all calls. */
  source: single<string | null>('source', null, given),
  /** Each is `key:value`. */
  tags: many('tag', (text) => text.includes(':')),
  /** HTTP statuses as digits. */
  statuses: many('status', isStatus),
  errorsOnly: single('errors_only', false, truth),
  /** The least and the longest duration in milliseconds, both inclusive. */
  minMs: single<number | null>('min_ms', null, millisecondsOf),
  maxMs: single<number | null>('max_ms', null, millisecondsOf),
  /** An exact id or error code; empty for none. */
  q: single('q', '', (text) => text.trim()),
}

type Order = CompareColumnName | SessionSort | SpendColumnName
const orders: readonly Order[] = [...compareColumnNames, ...sessionSorts, ...spendColumnNames]

/** The parts that another view resets. */
const others = {
  sort: single<CallSort>('sort', 'started_at', onlyIf(isCallSort)),
  /** The id of the call in the panel. */
  call: single<string | null>('call', null, (text) => (/^[0-9a-z]{11}$/.test(text) ? text : undefined)),
  /** The tab of the call panel. */
  tab: single<CallTab>('tab', 'timing', onlyIf(isCallTab)),
  /** The search text for payloads in Live, or for names of sessions; empty for none. */
  text: single('text', '', (text) => text, ['live', 'sessions']),
  /** The field that groups calls or spend. */
  by: single<CompareBy>('by', 'model', compareByOf, ['compare', 'costs']),
  /** For Compare: the measure of the curves, and the groups with a curve. No `lines` selects the first groups. */
  measure: single<keyof Curves>('measure', 'duration_ms', onlyIf(isNameOf(curveWords)), ['compare']),
  /** The column that sorts Compare, Sessions or Costs; null for the default. */
  order: single<Order | null>('order', null, (text) => orders.find((name) => name === text), [
    'compare',
    'sessions',
    'costs',
  ]),
  /** True if the smallest value comes first. */
  rising: single('rising', false, truth, ['compare', 'calls', 'sessions', 'costs']),
  /** The value of `rising` in the list from which the session was opened. */
  listRising: single('list_rising', false, truth, ['sessions']),
  lines: many('line', () => true, ['compare']),
  /** The earlier period for comparison in the Overview; null for none. */
  against: single<Against | null>('against', null, onlyIf(isNameOf(againstWords)), ['overview']),
  /** A text in the names of the listed prices; empty lists the prices of the range's calls. */
  price: single('price', '', (text) => text, ['costs']),
  /** The column that sorts the prices; null for the default. `priceRising` puts the smallest first. */
  priceOrder: single<PriceColumnName | null>(
    'price_order',
    null,
    (text) => priceColumnNames.find((name) => name === text),
    ['costs'],
  ),
  priceRising: single('price_rising', false, truth, ['costs']),
}

/** True if times are in UTC, not in the reader's zone. */
const utc: Part<boolean> = {
  ...single('tz', false, (text) => text === 'utc' || undefined),
  write: (isUtc) => (isUtc ? ['utc'] : []),
}

const parts = { ...filters, ...others, utc }

function usualOf<Parts extends Readonly<Record<string, Part<unknown>>>>(parts: Parts): ValuesOf<Parts> {
  const values = Object.entries(parts).map(([name, { usual }]) => [name, usual])
  return Object.fromEntries(values) as ValuesOf<Parts>
}

/** The parts of an address that a change of the view resets. */
export const viewReset = { ...usualOf(others), session: null }

/** The address of a bare `/`. */
export const defaultAddress = {
  view: 'overview' as View,
  /** The default range, recognized by this object: an equal range that a user chose is written into the address. */
  range: { last: '24h' } as Range,
  /** The names of unknown parameters and of those with an invalid value. The page shows them. */
  ignored: [] as readonly string[],
  ...usualOf(parts),
}

/**
 * The page's only state: a link shows others the same page, and Back restores the previous one. Filters and `sort`
 * have the names of `/api/query`.
 */
export type PageAddress = Readonly<typeof defaultAddress>

/** Reads an address; null if the path is no view. Invalid and unknown parameters are only named in `ignored`. */
export function readAddress(path: string, query: URLSearchParams): PageAddress | null {
  const view = (Object.keys(viewPaths) as View[]).find((name) => viewPaths[name] === path)
  if (view === undefined) return null
  const values: Record<string, unknown> = { ...defaultAddress, view }
  const ignored = new Set<string>()
  const used = Object.entries(parts).filter(([, part]) => isOf(part, view))
  for (const [name, text] of query) {
    if (name === 'from' || name === 'to' || (name === 'range' && isLastRange(text))) continue
    const [key = '', part] = used.find(([, part]) => part.name === name) ?? []
    const value = (part as Part<unknown> | undefined)?.read(text, values[key])
    if (value === undefined) ignored.add(name)
    else values[key] = value
  }
  const last = query.getAll('range').findLast(isLastRange)
  const range = boundsIn(query, ignored) ?? (last === undefined ? defaultAddress.range : { last })
  return { ...(values as PageAddress), range, ignored: [...ignored] }
}

/** Returns the path and query of an address. Defaults are left out, so that links stay short. */
export function writeAddress(address: PageAddress): string {
  const query = new URLSearchParams()
  if (address.range.last === null) {
    query.set('from', isoOf(address.range.fromMs))
    query.set('to', isoOf(address.range.toMs))
  } else if (address.range !== defaultAddress.range) query.set('range', address.range.last)
  write(query, parts, address)
  // A colon and a slash need no escape in a query (RFC 3986, 3.4). Dates and models are easier to read with them.
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2F', '/')
  return text === '' ? viewPaths[address.view] : `${viewPaths[address.view]}?${text}`
}

function write(query: URLSearchParams, written: Partial<typeof parts>, address: PageAddress): void {
  for (const [key, part] of Object.entries(written)) {
    if (!isOf(part, address.view)) continue
    const texts = (part as Part<unknown>).write(address[key as keyof typeof parts])
    for (const text of texts) query.append(part.name, text)
  }
}

function isOf({ views }: Pick<Part<unknown>, 'views'>, view: View): boolean {
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

/** True if any filter but the range is set. */
export function isFiltered(address: PageAddress): boolean {
  const query = new URLSearchParams()
  write(query, filters, address)
  return query.size > 0
}

/** Returns an address without its filters, except the range. */
export function withoutFilters(address: PageAddress): PageAddress {
  const session = address.view === 'sessions' ? address.session : null
  return { ...address, ...usualOf(filters), session, text: '', ignored: [] }
}

/** A group of calls. */
export interface NamedGroup {
  /** The value that the calls share; null for calls without one. */
  readonly key: string | null
  /** Present for the calls of all further values, whose `key` is not a value. */
  readonly rest?: true
}

/** Returns a text that no other group has: empty for the group without a value. */
export const idOf = ({ key, rest }: NamedGroup): string => (rest ? '\0' : (key ?? ''))

/** Returns the name of a group. */
export function groupWords(by: CompareBy, { key, rest }: NamedGroup): string {
  return rest ? 'Others' : (key ?? namelessOf(by))
}

/**
 * Returns the filter for the calls of one group; null if none selects them. `tags` are the filters by other tag
 * keys, which stay.
 */
export function filterOf(
  by: CompareBy,
  { key: name, rest }: NamedGroup,
  tags: readonly string[],
): Partial<PageAddress> | null {
  if (rest || name === null) return null
  const key = tagOf(by)
  if (!isField(by)) return { tags: [...tags.filter((tag) => tagKey(tag) !== key), `${key}:${name}`] }
  const filters = {
    model: { models: [name] },
    client: { clients: [name] },
    upstream_name: { upstreams: [name] },
  }
  return filters[by]
}

/** Returns the range between two instants of the query; null for none. */
function boundsIn(query: URLSearchParams, ignored: Set<string>): Range | null {
  const [from, to] = [query.get('from'), query.get('to')]
  const fromMs = instantOf(from)
  const toMs = instantOf(to)
  if (fromMs !== null && toMs !== null && fromMs < toMs) return { last: null, fromMs, toMs }
  for (const [name, text] of Object.entries({ from, to })) if (text !== null) ignored.add(name)
  return null
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
