import type { CallDimension } from '../../src/call/call-question.ts'
import type { CallFilter } from '../../src/call/call-filter.ts'
import type { CallSort } from '../../src/call/call-reader.ts'
import type { ZonedUnit } from '../../src/lib/zoned-time.ts'
import type { Asked, FigureAsked, ListAsked, LookupAsked, SessionsAsked } from './bench-question.ts'

/** Milliseconds that an answer may take, by the kind of question. */
const goals = { seed: 100, filtered: 300, other: 1000, list: 50, sorted: 300 } as const

const day = 24
const ranges = [1, day, 7 * day, 30 * day, 90 * day]
const longRanges = [day, 7 * day, 30 * day, 90 * day]

const commonModel: CallFilter = { model: ['gpt-5.1-mini'] }
const rareModel: CallFilter = { model: ['a-rare-model'] }

function figures(
  goalMs: number,
  hours: number,
  of: {
    readonly filter?: CallFilter
    readonly unit?: ZonedUnit
    readonly zone?: string
    readonly dimension?: CallDimension
    readonly withSql?: boolean
  } = {},
): FigureAsked {
  const { filter = {}, unit = null, zone = 'UTC', dimension = null, withSql = false } = of
  return { kind: 'figures', goalMs, hours, filter, unit, zone, dimension, withSql }
}

/** Plain SQL takes minutes over months: there it is asked over a day and a week. */
function isShort(hours: number): boolean {
  return hours === day || hours === 7 * day
}

const seedsOwn: readonly Asked[] = [
  ...ranges.map((hours) => figures(goals.seed, hours, { withSql: true })),
  ...ranges.map((hours) => figures(goals.seed, hours, { dimension: 'model', withSql: isShort(hours) })),
  ...ranges.map((hours) => figures(goals.seed, hours, { dimension: 'call_type', withSql: isShort(hours) })),
  ...ranges.map((hours) => figures(goals.seed, hours, { unit: 'hour', withSql: isShort(hours) })),
  ...ranges.map((hours) => figures(goals.seed, hours, { unit: 'day', withSql: isShort(hours) })),
]

const zoned: readonly Asked[] = ['Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu'].flatMap((zone) => [
  figures(goals.seed, 30 * day, { unit: 'hour', zone }),
  figures(goals.seed, 90 * day, { unit: 'hour', zone }),
  figures(goals.seed, 90 * day, { unit: 'day', zone }),
])

const filtered: readonly Asked[] = [
  ...[commonModel, rareModel, { call_type: ['chat'] } as const, { failedOnly: true }].flatMap((filter) =>
    longRanges.map((hours) => figures(goals.filtered, hours, { filter, withSql: hours === 7 * day })),
  ),
  figures(goals.filtered, 90 * day, { filter: commonModel, unit: 'hour' }),
  figures(goals.filtered, 90 * day, { filter: commonModel, unit: 'day' }),
  figures(goals.filtered, 90 * day, { filter: { call_type: ['embedding'] }, unit: 'hour' }),
  figures(goals.filtered, 90 * day, { filter: { call_type: ['chat'] }, dimension: 'model' }),
  figures(goals.filtered, 90 * day, { filter: { failedOnly: true }, unit: 'hour' }),
  figures(goals.filtered, 90 * day, { filter: { failedOnly: true }, dimension: 'model' }),
  figures(goals.filtered, 90 * day, { filter: { outcome: ['ok'] }, unit: 'day' }),
  figures(goals.filtered, 90 * day, { filter: { ...commonModel, failedOnly: true }, unit: 'day' }),
]

const twoKeys: readonly Asked[] = [
  figures(goals.filtered, day, { unit: 'hour', dimension: 'model', withSql: true }),
  figures(goals.filtered, 7 * day, { unit: 'hour', dimension: 'model', withSql: true }),
  figures(goals.filtered, 30 * day, { unit: 'hour', dimension: 'outcome' }),
  figures(goals.filtered, 30 * day, { unit: 'day', dimension: 'model' }),
  figures(goals.filtered, 90 * day, { unit: 'day', dimension: 'model' }),
  figures(goals.filtered, 90 * day, { unit: 'day', dimension: 'call_type' }),
  figures(goals.filtered, 90 * day, { unit: 'day', dimension: 'outcome' }),
]

const others: readonly Asked[] = [
  ...(['client', 'endpoint', 'status', 'failure_code'] as const).flatMap((dimension) =>
    longRanges.map((hours) => figures(goals.other, hours, { dimension, withSql: hours === day })),
  ),
  figures(goals.other, 90 * day, { unit: 'day', dimension: 'client' }),
  figures(goals.other, 90 * day, { dimension: 'tag:team' }),
  figures(goals.other, 30 * day, { dimension: 'upstream_name' }),
  figures(goals.other, 30 * day, { filter: { client: ['support-desk'], failedOnly: true }, unit: 'day' }),
  figures(goals.other, 90 * day, { filter: { client: ['support-desk'] }, unit: 'day' }),
  figures(goals.other, 7 * day, { filter: { client: ['support-desk'] }, dimension: 'model' }),
  figures(goals.other, 30 * day, { filter: { client: ['support-desk'] }, dimension: 'model' }),
  figures(goals.other, 7 * day, { filter: { min_ms: 60_000 } }),
  figures(goals.other, 30 * day, { filter: { min_ms: 60_000 } }),
  figures(goals.other, day, { unit: 'minute' }),
]

function list(filter: CallFilter, limit = 100, hours: number | null = null): readonly ListAsked[] {
  const page = { kind: 'list', goalMs: goals.list, filter, hours, limit, sort: 'started_at' } as const
  return [
    { ...page, isNext: false },
    { ...page, isNext: true },
  ]
}

function sorted(sort: CallSort, filter: CallFilter = {}): ListAsked {
  return { kind: 'list', goalMs: goals.sorted, filter, hours: 7 * day, limit: 100, sort, isNext: false }
}

const lists: readonly Asked[] = [
  ...list({}),
  ...list({}, 1000),
  ...list(commonModel),
  ...list(rareModel),
  ...list({ call_type: ['rerank'] }),
  ...list({ failedOnly: true }),
  ...list({ ...commonModel, failedOnly: true }),
  ...list({ ...rareModel, failedOnly: true }),
  ...list({ status: [429] }),
  ...list({ outcome: ['upstream_cut'] }),
  ...list({ outcome: ['client_disconnected'] }),
  ...list({ failure_code: ['stream_error'] }),
  ...list({ client: ['support-desk'] }),
  ...list({ client: ['a-rare-client'] }),
  ...list({ endpoint: ['/v1/models'] }),
  ...list({ min_ms: 120_000 }),
  ...list({ ...rareModel, min_ms: 120_000 }),
  ...list({ exactly: 'context_length_exceeded' }),
  ...list({ exactly: 'no_such_code' }),
  ...(['duration', 'ttft', 'cost'] as const).flatMap((sort) => [
    sorted(sort),
    sorted(sort, commonModel),
    sorted(sort, { failedOnly: true }),
  ]),
]

const sessions = [
  {},
  commonModel,
  rareModel,
  { client: ['code-assistant'] },
  { client: ['a-rare-client'] },
  { failedOnly: true },
].flatMap((filter): readonly SessionsAsked[] => [
  { kind: 'sessions', goalMs: goals.list, filter, isNext: false },
  { kind: 'sessions', goalMs: goals.list, filter, isNext: true },
])

const lookups = (['extent', 'choices', 'call', 'endedSince'] as const).map((method): LookupAsked => ({
  kind: 'lookup',
  goalMs: goals.list,
  method,
}))

/** Questions of every kind that the dashboard asks, with the goal of each (P7, P8). */
export const questionList: readonly Asked[] = [
  ...seedsOwn,
  ...zoned,
  ...filtered,
  ...twoKeys,
  ...others,
  ...lists,
  ...sessions,
  ...lookups,
]
