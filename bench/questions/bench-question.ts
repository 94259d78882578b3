import type { CallDimension } from '../../src/call/call-question.ts'
import type { CallFilter } from '../../src/call/call-filter.ts'
import type { CallSort } from '../../src/call/call-reader.ts'
import { type ZonedUnit, ZonedTime } from '../../src/lib/zoned-time.ts'

/** A question about sums and percentiles over the newest part of a database. */
export interface FigureAsked {
  readonly kind: 'figures'
  readonly goalMs: number
  readonly hours: number
  readonly filter: CallFilter
  readonly unit: ZonedUnit | null
  readonly zone: string
  readonly dimension: CallDimension | null
  /** Asked in plain SQL, too. */
  readonly withSql: boolean
}

/** A question for a list of calls. */
export interface ListAsked {
  readonly kind: 'list'
  readonly goalMs: number
  readonly filter: CallFilter
  /** Of the newest part; null for all calls. */
  readonly hours: number | null
  readonly sort: CallSort
  readonly limit: number
  /** The page after the first. */
  readonly isNext: boolean
}

/** A question for a hundred sessions. */
export interface SessionsAsked {
  readonly kind: 'sessions'
  readonly goalMs: number
  readonly filter: CallFilter
  /** The page after the first. */
  readonly isNext: boolean
}

/** What every page asks beside its own question. */
export interface LookupAsked {
  readonly kind: 'lookup'
  readonly goalMs: number
  readonly method: 'extent' | 'choices' | 'call' | 'endedSince'
}

export type Asked = FigureAsked | ListAsked | SessionsAsked | LookupAsked

/** For people: `day, model of 30 d, callTypes=chat`. */
export function nameOf(asked: Asked): string {
  if (asked.kind === 'lookup') return asked.method
  const filter = Object.entries(asked.filter).map(([name, value]) => `${name}=${String(value)}`)
  if (asked.kind === 'sessions')
    return ['sessions', asked.isNext ? 'page after' : 'first page', ...filter].join(' · ')
  const range = asked.hours === null ? 'all time' : rangeOf(asked.hours)
  if (asked.kind === 'list') {
    const sort = asked.sort === 'started_at' ? '' : `by ${asked.sort}`
    const page = asked.isNext ? 'page after' : 'first page'
    return [sort || page, `of ${asked.limit}`, range, ...filter].join(' · ')
  }
  const keys = [asked.unit, asked.dimension].filter((key) => key !== null).join(', ')
  const zone = asked.zone === 'UTC' ? [] : [asked.zone]
  return [keys || 'overview', range, ...zone, ...filter].join(' · ')
}

function rangeOf(hours: number): string {
  return hours < 48 ? `${hours} h` : `${hours / 24} d`
}

/** The edges of the question's buckets, cut to its range. */
export function edgesOf({ hours, unit, zone }: FigureAsked, endMs: number): readonly number[] {
  const fromMs = endMs - hours * 3_600_000
  if (unit === null) return [fromMs, endMs]
  const inner = new ZonedTime(zone).edges(unit, fromMs, endMs).filter((edge) => edge > fromMs && edge < endMs)
  return [fromMs, ...inner, endMs]
}
