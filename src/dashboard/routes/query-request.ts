import type { Note } from '../../api/notes.ts'
import { parseCallId } from '../../call/call-id.ts'
import { type CallDimension, callDimensions } from '../../call/call-question.ts'
import { type CallFilter, type FilterName, type NamedFilter, namedFilters } from '../../call/call-filter.ts'
import type { CallSort } from '../../call/call-reader.ts'
import { type SessionSort, sessionSorts } from '../../call/call-session.ts'
import { failureKinds } from '../../call/failure.ts'
import { type IsoTime, parseIsoTime } from '../../lib/iso-instant.ts'
import { ZonedTime, type ZonedUnit } from '../../lib/zoned-time.ts'
import {
  type GroupQuestion,
  type ListQuestion,
  type OverviewQuestion,
  type QueryFormat,
  type SessionsQuestion,
  type SlotsQuestion,
  maxSorted,
} from '../../query/query-question.ts'
import { type AskedRange, windowOf } from '../../query/asked-range.ts'
import { integer, measure, oneOf, shortText, timeZone, trueFalse } from '../../options/value-kind.ts'
import {
  type QueryParameter,
  type QueryOf,
  type QueryTable,
  invalidParameter,
  meaning,
  optional,
  or,
  repeatable,
} from '../http/query-parameters.ts'

/** Filters of fields in a query; null for an absent one. */
type FieldFilters = { readonly [Name in FilterName]: Required<CallFilter>[Name] | null }

/** The keys that calls are grouped by. */
type GroupBy = { readonly time: ZonedUnit | null; readonly dimension: CallDimension | null }

const times: readonly ZonedUnit[] = ['hour', 'day', 'minute']
/** The length at which the store cuts a word. */
const maxNameLength = 2000
/** Default for the most calls of a list. */
const defaultLimit = 1000

/** An instant, or a local time or day without a zone; {@link instantOf} adds the zone. */
export const isoTime: QueryParameter<IsoTime> = {
  range: 'a time in ISO 8601 such as 2026-11-21T04:00:00Z, or a day such as 2026-11-21',
  parse: (text) => parseIsoTime(text) ?? undefined,
}

/** The instant in whole milliseconds since the Unix epoch. A time without an offset is in `timeZone`. */
export function instantOf({ ms, isLocal }: IsoTime, timeZone: string = 'UTC'): number {
  return Math.ceil(isLocal ? new ZonedTime(timeZone).instantOf(ms) : ms)
}

const format = or<QueryFormat>(oneOf(['json', 'csv', 'ndjson']), 'json')

const cursor: QueryParameter<number> = {
  range: 'the next_cursor of an answer',
  parse: (text) => parseCallId(text) ?? undefined,
}

export const groupBy: QueryParameter<GroupBy> = {
  range: `one of ${[...times, ...callDimensions].join(', ')}, tag:<key>, or one of the first three and another with a comma, as in hour,model`,
  parse: (text) => {
    const words = text.split(',')
    const time = times.find((unit) => words.includes(unit)) ?? null
    const tag = words.find((word): word is `tag:${string}` => /^tag:./.test(word))
    const dimension = callDimensions.find((name) => words.includes(name)) ?? tag ?? null
    const keys = [time, dimension].filter((word) => word !== null)
    return keys.length === words.length ? { time, dimension } : undefined
  },
}

const tagText: QueryParameter<string> = {
  range: 'a tag as key:value',
  parse: (text) => (/^[^:\0]+:[^\0]*$/.test(text) && text.length <= maxNameLength ? text : undefined),
}

/** The parameter for a filter by a field: values, or a bound. */
function fieldFilter({ name, by, field }: NamedFilter): object {
  if (by !== 'any') return optional(meaning(`at ${by} this duration in milliseconds`, measure))
  if (name === 'status') return repeatable(integer(100, 599))
  if (name === 'failure_code') return repeatable(oneOf(Object.keys(failureKinds)))
  if (field.codes !== undefined) return repeatable(oneOf(Object.keys(field.codes)))
  return repeatable(meaning(field.doc, shortText(name === 'endpoint' ? 'a path' : 'a name', maxNameLength)))
}

/** The query parameters of `/api/overview`. */
export const overviewTable = {
  from: optional(meaning('calls that began then or later', isoTime)),
  to: optional(meaning('calls that began before', isoTime)),
  ...(Object.fromEntries(
    namedFilters.map((filter) => [filter.name, fieldFilter(filter)]),
  ) as QueryTable<FieldFilters>),
  tag: repeatable(meaning('calls with this tag; of several values of a key, any', tagText)),
  errors_only: meaning('only calls that failed', or(trueFalse, false)),
  q: optional(
    meaning(
      'calls with exactly this id, error code or trace',
      shortText('an id or an error code', maxNameLength),
    ),
  ),
  tz: meaning('time zone of hours and days, and of times without an offset', or(timeZone, 'UTC')),
}

export type OverviewQuery = QueryOf<typeof overviewTable>

const { from, to, tz } = overviewTable

/** The query parameters of `/api/notes`. */
export const notesTable = { from, to, tz }

/** The query parameters of `/api/slots`. */
export const slotsTable = {
  from,
  to,
  tz,
  upstream_name: meaning('whose slots', or(shortText('a name', maxNameLength), 'default')),
  max_concurrent: optional(meaning('the limit to begin with (default: the last one)', integer(1, 100_000))),
  slot_cooldown_ms: meaning('how long a slot rests before a waiting call gets it', or(measure, 50)),
}

const rising = meaning('the smallest first, in one page', or(trueFalse, false))

/** The query parameters of `/api/query`. */
export const callsTable = {
  ...overviewTable,
  group_by: optional(meaning('figures by a key in place of a list', groupBy)),
  measures: optional(meaning('of times and speeds: nothing, or curves besides', oneOf(['none', 'curves']))),
  limit: optional(meaning('calls of a list at most', integer(1, 10_000))),
  sort: optional(oneOf<CallSort>(['started_at', 'duration', 'ttft', 'cost'])),
  rising,
  /** The cursor: the id of the last call of the page before. */
  cursor: optional(cursor),
  format,
}

/** The query parameters of `/api/sessions`. */
export const sessionsTable = {
  ...overviewTable,
  q: optional(shortText('a session’s name or a part of it, an id or an error code', maxNameLength)),
  limit: or(integer(1, 1000), 100),
  sort: or(oneOf<SessionSort>(sessionSorts), 'last_at'),
  rising,
  cursor: optional(cursor),
  format,
}

export type CallsQuery = QueryOf<typeof callsTable>

/** The question in a query of `/api/query`. Throws {@link RequestError} if parameters contradict each other. */
export function callsQuestion(query: CallsQuery): ListQuestion | GroupQuestion {
  const filter = filterOf(query)
  const { group_by, format, tz, measures } = query
  if (group_by !== null) {
    for (const param of ['sort', 'cursor', 'rising'] as const) {
      if (query[param] !== null && query[param] !== false)
        throw invalidParameter(param, `${param} is for lists of calls, and group_by asks for none.`)
    }
    return { kind: 'groups', filter, ...group_by, timeZone: tz, format, measures }
  }
  if (measures !== null) throw invalidParameter('measures', 'measures goes with group_by.')
  const { rising } = query
  const sort = query.sort ?? 'started_at'
  const isUsual = expectOnePage(query, sort, 'started_at')
  const limit = query.limit ?? (isUsual ? defaultLimit : maxSorted)
  return { kind: 'list', filter, limit, beforeId: query.cursor, sort, rising, format }
}

/**
 * True for the usual order, which has pages. Throws {@link RequestError} if another order is requested with a
 * cursor, or with too high a limit.
 */
function expectOnePage(
  { limit, rising, cursor }: Pick<CallsQuery, 'limit' | 'rising' | 'cursor'>,
  sort: string,
  usual: string,
): boolean {
  if (sort === usual && !rising) return true
  const order = `sorted by ${sort}${rising ? ', rising,' : ''}`
  if (cursor !== null)
    throw invalidParameter('cursor', `A list ${order} has one page; cursor goes with ${usual} alone.`)
  if ((limit ?? 0) > maxSorted)
    throw invalidParameter('limit', `limit must be 1 to ${maxSorted} in a list ${order}; got ${limit}`)
  return false
}

/** The question in a query of `/api/overview`; `notesOf` returns the notes of its range. */
export function overviewQuestion(
  query: OverviewQuery,
  nowMs: number,
  notesOf: (range: AskedRange) => readonly Note[],
): OverviewQuestion {
  const filter = filterOf(query)
  return { kind: 'overview', filter, timeZone: query.tz, notes: notesOf(windowOf(filter, nowMs)) }
}

/** The question in a query of `/api/slots`. */
export function slotsQuestion(query: QueryOf<typeof slotsTable>): SlotsQuestion {
  const { upstream_name: upstreamName, max_concurrent: maxConcurrent, slot_cooldown_ms: cooldownMs } = query
  return { kind: 'slots', range: timesOf(query), upstreamName, maxConcurrent, cooldownMs }
}

/** The question in a query of `/api/sessions`. */
export function sessionsQuestion({
  limit,
  sort,
  rising,
  cursor,
  format,
  q,
  ...query
}: QueryOf<typeof sessionsTable>): SessionsQuestion {
  expectOnePage({ limit, rising, cursor }, sort, 'last_at')
  const page = {
    limit,
    sort,
    rising,
    ...(cursor !== null && { beforeId: cursor }),
    ...(q !== null && { search: q }),
  }
  return { kind: 'sessions', filter: filterOf({ ...query, q: null }), page, format }
}

/** The filter of a query. Throws {@link RequestError} if parameters contradict each other. */
export function filterOf({ from, to, tz, errors_only, q, tag, ...fields }: OverviewQuery): CallFilter {
  const { min_ms, max_ms } = fields
  const times = timesOf({ from, to, tz })
  if (min_ms !== null && max_ms !== null && max_ms < min_ms) {
    throw invalidParameter('max_ms', 'max_ms must be at least min_ms.')
  }
  const namedValues = Object.fromEntries(namedFilters.map(({ name }) => [name, fields[name]]))
  const conditions = { ...times, ...namedValues, tag, failedOnly: errors_only ? true : null, exactly: q }
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== null))
}

/** The instants of `from` and `to`. Throws {@link RequestError} if they are in the wrong order. */
export function timesOf({
  from,
  to,
  tz,
}: Pick<OverviewQuery, 'from' | 'to' | 'tz'>): Pick<CallFilter, 'fromMs' | 'toMs'> {
  const fromMs = from === null ? null : instantOf(from, tz)
  const toMs = to === null ? null : instantOf(to, tz)
  expectOrder(fromMs, toMs)
  return { ...(fromMs !== null && { fromMs }), ...(toMs !== null && { toMs }) }
}

/** Throws {@link RequestError} unless a range ends after its start. */
export function expectOrder(fromMs: number | null, toMs: number | null): void {
  if (fromMs !== null && toMs !== null && toMs <= fromMs) {
    throw invalidParameter('to', 'to must be later than from.')
  }
}
