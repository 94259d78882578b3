import type { CallSort, CallTab, CallType, Outcome } from './call-words.ts'
import { isCallSort, isCallTab, isCallType, isOutcome } from './call-words.ts'

/** What the page can show, by its path. */
export const viewPaths = {
  overview: '/',
  calls: '/calls',
  live: '/live',
  costs: '/costs',
  gateway: '/gateway',
} as const

export type View = keyof typeof viewPaths

/** What spend can be compared by. */
export type SpendBy = 'model' | 'client'

/** Lengths of time that end now, in milliseconds. */
export const lastRanges = {
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const

export type LastRange = keyof typeof lastRanges

/** Either a length of time that ends now, or two instants in milliseconds since the Unix epoch, the second exclusive. */
export type Range =
  | { readonly last: LastRange }
  | { readonly last: null; readonly fromMs: number; readonly toMs: number }

/**
 * All that the page shows is told by its address, and nothing else keeps it: a link shows others the same, and Back
 * brings back what was there. Names are those of `/api/query`, but for `range`, `call`, `tab`, `text`, `by`, `price` and
 * `tz=utc`, which are the page's own.
 */
export interface PageAddress {
  readonly view: View
  readonly range: Range
  readonly models: readonly string[]
  readonly callTypes: readonly CallType[]
  readonly errorsOnly: boolean
  readonly outcomes: readonly Outcome[]
  readonly failureCodes: readonly string[]
  readonly clients: readonly string[]
  /** HTTP statuses, as digits. */
  readonly statuses: readonly string[]
  /** Bounds of the duration in milliseconds, both inclusive. */
  readonly minMs: number | null
  readonly maxMs: number | null
  /** Exactly this id or error code; empty for none. */
  readonly q: string
  readonly sort: CallSort
  /** The id of the call whose panel is open. */
  readonly call: string | null
  /** What of it is shown. */
  readonly tab: CallTab
  /** What is looked for in the payloads of the Live view; empty for nothing. */
  readonly text: string
  /** What the spend is compared by. */
  readonly by: SpendBy
  /** Part of the names of prices that are shown; empty for all that the calls met. */
  readonly price: string
  /** Times in UTC, in place of the reader's zone. */
  readonly utc: boolean
  /** Names of parameters that mean nothing here, or not with this value: shown, so that nobody is misled. */
  readonly ignored: readonly string[]
}

/** What a bare `/` shows. */
export const plainAddress: PageAddress = {
  view: 'overview',
  range: { last: '24h' },
  models: [],
  callTypes: [],
  errorsOnly: false,
  outcomes: [],
  failureCodes: [],
  clients: [],
  statuses: [],
  minMs: null,
  maxMs: null,
  q: '',
  sort: 'started_at',
  call: null,
  tab: 'timing',
  text: '',
  by: 'model',
  price: '',
  utc: false,
  ignored: [],
}

type Fields = { -readonly [Name in keyof PageAddress]: PageAddress[Name] }

/** Takes a value over, or answers false where it means nothing. */
type Reader = (fields: Fields, value: string) => boolean

const readers: Readonly<Record<string, Reader>> = {
  range: (fields, value) => {
    if (!Object.hasOwn(lastRanges, value)) return false
    fields.range = { last: value as LastRange }
    return true
  },
  model: (fields, value) => adds(fields, 'models', value),
  client: (fields, value) => adds(fields, 'clients', value),
  failure_code: (fields, value) => adds(fields, 'failureCodes', value),
  status: (fields, value) => isStatus(value) && adds(fields, 'statuses', value),
  call_type: (fields, value) => isCallType(value) && adds(fields, 'callTypes', value),
  outcome: (fields, value) => isOutcome(value) && adds(fields, 'outcomes', value),
  errors_only: (fields, value) => {
    fields.errorsOnly = value === 'true' || value === '1'
    return ['true', '1', 'false', '0'].includes(value)
  },
  min_ms: (fields, value) => {
    fields.minMs = millisecondsOf(value)
    return fields.minMs !== null
  },
  max_ms: (fields, value) => {
    fields.maxMs = millisecondsOf(value)
    return fields.maxMs !== null
  },
  q: (fields, value) => {
    fields.q = value.trim()
    return true
  },
  sort: (fields, value) => {
    if (!isCallSort(value)) return false
    fields.sort = value
    return true
  },
  call: (fields, value) => {
    fields.call = /^[0-9a-z]{11}$/.test(value) ? value : null
    return fields.call !== null
  },
  tab: (fields, value) => {
    if (!isCallTab(value)) return false
    fields.tab = value
    return true
  },
  text: (fields, value) => {
    fields.text = value
    return true
  },
  by: (fields, value) => {
    if (value === 'client' || value === 'model') fields.by = value
    return fields.by === value
  },
  price: (fields, value) => {
    fields.price = value
    return true
  },
  tz: (fields, value) => {
    fields.utc = value === 'utc'
    return fields.utc
  },
}

/** Reads an address. What means nothing is left out and named in `ignored`; null where the path is none of ours. */
export function readAddress(path: string, query: URLSearchParams): PageAddress | null {
  const view = (Object.keys(viewPaths) as View[]).find((name) => viewPaths[name] === path)
  if (view === undefined) return null
  const fields: Fields = { ...plainAddress, view }
  const ignored = new Set<string>()
  for (const [name, value] of query) {
    if (name === 'from' || name === 'to') continue
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (reader === undefined || !reader(fields, value)) ignored.add(name)
  }
  readBounds(fields, query, ignored)
  return { ...fields, ignored: [...ignored] }
}

/** Writes an address: what is as it is in a bare one is left out, so that links stay short. */
export function writeAddress(address: PageAddress): string {
  const query = new URLSearchParams()
  if (address.range.last === null) {
    query.set('from', isoOf(address.range.fromMs))
    query.set('to', isoOf(address.range.toMs))
  } else if (address.range.last !== '24h') query.set('range', address.range.last)
  writeFilter(query, address)
  if (address.sort !== 'started_at') query.set('sort', address.sort)
  if (address.call !== null) query.set('call', address.call)
  if (address.tab !== 'timing') query.set('tab', address.tab)
  if (address.text !== '') query.set('text', address.text)
  if (address.by !== 'model') query.set('by', address.by)
  if (address.price !== '') query.set('price', address.price)
  if (address.utc) query.set('tz', 'utc')
  // A colon and a slash need no escape in a query (RFC 3986, 3.4), and dates and models read better with them.
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2F', '/')
  return text === '' ? viewPaths[address.view] : `${viewPaths[address.view]}?${text}`
}

/** The filters under the names that the dashboard's API knows, without range, sort and zone. */
export function writeFilter(query: URLSearchParams, address: PageAddress): void {
  for (const model of address.models) query.append('model', model)
  for (const type of address.callTypes) query.append('call_type', type)
  for (const outcome of address.outcomes) query.append('outcome', outcome)
  for (const code of address.failureCodes) query.append('failure_code', code)
  for (const client of address.clients) query.append('client', client)
  for (const status of address.statuses) query.append('status', status)
  if (address.errorsOnly) query.set('errors_only', 'true')
  if (address.minMs !== null) query.set('min_ms', String(address.minMs))
  if (address.maxMs !== null) query.set('max_ms', String(address.maxMs))
  if (address.q !== '') query.set('q', address.q)
}

/** Whether any filter but the range is set. */
export function isFiltered(address: PageAddress): boolean {
  const query = new URLSearchParams()
  writeFilter(query, address)
  return query.size > 0
}

/** The same without any filter but the range. */
export function withoutFilters(address: PageAddress): PageAddress {
  const { view, range, sort, call, tab, by, price, utc } = address
  return { ...plainAddress, view, range, sort, call, tab, by, price, utc }
}

/** Where a range begins and ends, in milliseconds since the Unix epoch. */
export function boundsOf(range: Range, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  return range.last === null ? range : { fromMs: nowMs - lastRanges[range.last], toMs: nowMs }
}

function readBounds(fields: Fields, query: URLSearchParams, ignored: Set<string>): void {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return
  const fromMs = instantOf(from)
  const toMs = instantOf(to)
  if (fromMs !== null && toMs !== null && fromMs < toMs) fields.range = { last: null, fromMs, toMs }
  else for (const [name, value] of Object.entries({ from, to })) if (value !== null) ignored.add(name)
}

/** Three digits that `/api/query` takes for a status. */
export function isStatus(text: string): boolean {
  return /^[1-5]\d\d$/.test(text)
}

function adds<Name extends 'models' | 'clients' | 'statuses' | 'failureCodes' | 'callTypes' | 'outcomes'>(
  fields: Fields,
  name: Name,
  value: Fields[Name][number],
): boolean {
  if (value === '') return false
  fields[name] = [...new Set([...fields[name], value])] as unknown as Fields[Name]
  return true
}

function millisecondsOf(text: string): number | null {
  return /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : null
}

/** An offset is wanted: without one it would mean another instant to another reader. */
function instantOf(text: string | null): number | null {
  if (text === null || !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) || ms < 0 ? null : ms
}

/** Without milliseconds where there are none. */
function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
