import type { Overview, OverviewEvent } from '../../src/api/overview.ts'
import type { LastRange } from '../data/page-range.ts'
import type { ChartMark } from '../charts/event-flags.ts'
import type { Bounds, TimeFrame } from '../charts/time-frame.ts'

/** Returns the time of an answer, divided into buckets. */
export function frameOf({ from, to, bucket_s, buckets }: Overview): TimeFrame {
  return {
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
    startsMs: buckets.start_s.map((startS) => startS * 1000),
    bucketMs: bucket_s * 1000,
  }
}

/** Returns the times without a gateway. */
export function outagesOf({ slots }: Pick<Overview, 'slots'>): readonly Bounds[] {
  return slots.gaps.map(({ from_s, to_s }) => ({ fromMs: from_s * 1000, toMs: to_s * 1000 }))
}

/** The long and short names of events. */
const eventWords: Readonly<Record<string, readonly [words: string, short: string]>> = {
  start: ['Gateway started', 'start'],
  stop: ['Gateway stopped', 'stop'],
  crash: ['Gateway crashed', 'crash'],
  restart: ['Gateway restarted', 'restart'],
  config: ['Setting changed', 'setting'],
  price_sync: ['Prices updated', 'prices'],
  compress: ['Old calls rolled up', 'rolled up'],
}

/** The most characters of a note's short name, which is its first words. */
const shortLetters = 18

type MarkText = Pick<ChartMark, 'words' | 'short'>

/** Returns the marks of events, in order of time. Events within `nearMs` share a mark. */
export function marksOf(
  { events, slots }: Pick<Overview, 'events' | 'slots'>,
  nearMs: number,
): readonly ChartMark[] {
  const marks = new Map<number, MarkText[]>()
  let lastMs = Number.NEGATIVE_INFINITY
  for (const event of events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const ms = Date.parse(event.at)
    if (ms > lastMs + nearMs) lastMs = ms
    marks.set(lastMs, [...(marks.get(lastMs) ?? []), markTextOf(event, limitBefore(slots, ms))])
  }
  return [...marks].map(([ms, events]) => {
    const shorts = new Set(events.map(({ short }) => short))
    return {
      ms,
      words: [...new Set(events.map(({ words }) => words))].join(', '),
      short: shorts.size === 1 ? [...shorts].join('') : `${shorts.size} events`,
    }
  })
}

function markTextOf({ kind, detail }: OverviewEvent, limitBefore: number | null): MarkText {
  if (kind === 'note') return { words: detail ?? '', short: firstWords(detail ?? '') }
  const limit = kind === 'config' ? limitIn(detail) : null
  if (limit !== null) {
    const from = limitBefore === null || limitBefore === limit ? '' : `${limitBefore}→`
    return { words: `Limit changed: ${from}${limit}`, short: `limit ${from}${limit}` }
  }
  const [words, short] = eventWords[kind] ?? [kind, kind]
  return { words, short }
}

/** Returns the limit that a change of settings sets; null if it sets none. */
function limitIn(detail: string | null): number | null {
  const limit = /"max_concurrent":(\d+)/.exec(detail ?? '')?.[1]
  return limit === undefined ? null : Number(limit)
}

/** Returns the limit of the last bucket before an instant. */
function limitBefore({ start_s: starts, limit }: Overview['slots'], ms: number): number | null {
  return limit[starts.findLastIndex((startS) => startS * 1000 <= ms) - 1] ?? null
}

function firstWords(text: string): string {
  if (text.length <= shortLetters) return text
  const cut = text.slice(0, shortLetters)
  const end = cut.lastIndexOf(' ')
  return `${end < shortLetters / 2 ? cut : cut.slice(0, end)}…`
}

/**
 * Returns the use of slots for the buckets of the other figures. Buckets of slots are a minute or longer, so
 * several buckets may share one.
 */
export function slotColumns({
  slots,
  buckets,
}: Overview): Readonly<Record<'active' | 'queued' | 'atLimit' | 'limit', readonly (number | null)[]>> {
  const places = buckets.start_s.map((startS) =>
    Math.max(
      0,
      slots.start_s.findLastIndex((start) => start <= startS),
    ),
  )
  const column = (values: readonly (number | null)[]): (number | null)[] =>
    places.map((place) => values[place] ?? null)
  return {
    active: column(slots.active_max),
    queued: column(slots.queued_max),
    atLimit: column(slots.at_limit_share),
    limit: column(slots.limit),
  }
}

const bucketUnits = [
  [604_800, 'weeks', 'week'],
  [86_400, 'days', 'day'],
  [3600, 'h', 'hour'],
  [60, 'min', 'minute'],
  [1, 's', '1 s'],
] as const

/** Returns the width of a bucket, for a text after “per”: `15 min`, `hour`. */
export function perBucket(bucketS: number): string {
  const [unit, words, singular] = bucketUnits.find(([unit]) => bucketS >= unit) ?? bucketUnits[4]
  return bucketS === unit ? singular : `${bucketS / unit} ${words}`
}

const hourMs = 3_600_000

/**
 * Returns the shortest range that contains all calls, if all are from the last six hours; else null. So the first
 * day's charts are not almost empty.
 */
export function youngRange({
  recorded_from: first,
  to,
}: Pick<Overview, 'recorded_from' | 'to'>): LastRange | null {
  if (first === null) return null
  const ageMs = Date.parse(to) - Date.parse(first)
  if (ageMs <= hourMs) return '1h'
  return ageMs <= 6 * hourMs ? '6h' : null
}
