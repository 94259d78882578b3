import {
  type Overview,
  type OverviewCall,
  type OverviewHeat,
  type OverviewModel,
  type OverviewSingles,
} from '../api/overview.ts'
import { overviewCallFields, type CallJson } from '../call/call-record.ts'
import type { CallAnswer, CallDimension, CallQuestion } from '../call/call-question.ts'
import type { GroupFigures } from '../call/figures.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { CallReader, StoreReader } from '../call/call-reader.ts'
import { FoldedRangeError } from '../call/no-answer.ts'
import { windowOf } from './asked-range.ts'
import { bucketEdges, bucketWidthS } from './chart-buckets.ts'
import { ZonedTime } from '../lib/zoned-time.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import { frameOf, recordedFrom } from './list-answer.ts'
import { overviewBuckets, overviewTotals } from './overview-figures.ts'
import { heatLimitsMs } from '../call/heat-limits.ts'
import { overviewSlots } from './overview-slots.ts'
import { mostEntries, type OverviewQuestion } from './query-question.ts'

const hourS = 3600
const latestCalls = 12
const shownCalls = 10
const shownModels = 10
/** Most single calls of a bucket. With more calls, a bucket has a median. */
const singlesPerBucket = 4
const shownEvents = 30

/** The figures of the Overview (default: the last 24 hours). */
export async function overviewAnswer(
  reader: StoreReader,
  { filter, timeZone, notes }: OverviewQuestion,
  nowMs: number,
): Promise<Overview> {
  const { history } = reader
  const { fromMs, toMs } = windowOf(filter, nowMs)
  const zone = new ZonedTime(timeZone)
  const isFolded = ((await reader.foldedUntilMs()) ?? 0) > fromMs
  const bucketS = bucketWidthS(fromMs, toMs, isFolded ? hourS : 0)
  const starts = bucketEdges(zone, bucketS, fromMs, toMs)
  const edgesMs = [fromMs, ...starts.slice(1, -1), toMs]
  // Sums have no times of failed calls.
  const timesFailed = filter.failedOnly === true && !isFolded
  const chatOnly = filter.call_type === undefined && !timesFailed
  const timed: CallFilter = chatOnly ? { ...filter, call_type: ['chat'] } : filter
  /** Asks a question about all calls and about the timed ones. */
  const ofBoth = async <T>(of: (some: CallFilter) => Promise<T>): Promise<readonly [all: T, timed: T]> => {
    const all = await of(filter)
    return [all, timed === filter ? all : await of(timed)]
  }
  const sums = (dimension: CallDimension, some: CallFilter = filter): Promise<CallAnswer> =>
    reader.aggregate({ filter: some, edgesMs: [fromMs, toMs], dimension, top: mostEntries, isSumsOnly: true })

  const of = timesFailed ? { timesFailed } : {}
  const [all, timedFigures] = await ofBoth((some) => bucketsOf(reader, { filter: some, edgesMs, ...of }))
  const ended: CallFilter = timesFailed ? timed : { ...timed, outcome: ['ok'] }
  const inWindow = { ...filter, fromMs, toMs }
  const failed = { ...filter, failedOnly: true }
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    tz: timeZone,
    bucket_s: bucketS,
    chat_only: chatOnly,
    timed: timesFailed ? 'failed' : 'ok',
    buckets: overviewBuckets(starts.slice(0, -1), all.buckets, timedFigures.buckets),
    heat: overviewHeat(timedFigures.durationCounts),
    singles: await singlesOf(reader, ended, edgesMs, timedFigures.buckets),
    totals: overviewTotals(all.summary, timedFigures.summary),
    previous: await orNull(async () => {
      const previousMs = fromMs - (toMs - fromMs)
      // Recording began within the previous window, so its totals would be incomplete.
      if (((await reader.extent())?.firstMs ?? Number.POSITIVE_INFINITY) > previousMs) return null
      const oneCell = { edgesMs: [previousMs, fromMs], dimension: null }
      const [before, timedBefore] = await ofBoth((some) =>
        reader.aggregate({ filter: some, ...oneCell, ...of }),
      )
      return overviewTotals(before.summary, timedBefore.summary)
    }),
    models: await orNull(async () => modelsOf(await sums('model'))),
    failures: await orNull(async () => failuresOf(await sums('failure_code', failed), all.summary.errors)),
    slots: await overviewSlots(history, zone, { fromMs, toMs }, nowMs),
    events: [
      ...(await history.events(fromMs, toMs, shownEvents)).map(({ atMs, ...event }) =>
        Object.assign({ at: new Date(atMs).toISOString() }, event),
      ),
      ...notes.map(({ at, text }) => ({ at, instance: null, kind: 'note', detail: text })),
    ].sort((a, b) => (a.at < b.at ? -1 : 1)),
    latest: (await reader.list(inWindow, { limit: latestCalls })).map(shownCall),
    slowest: await slowestOf(reader, ended, edgesMs, timedFigures.buckets),
    failed: (await reader.list({ ...inWindow, failedOnly: true }, { limit: shownCalls })).map(shownCall),
    recorded_from: await recordedFrom(reader),
    ...(await frameOf(reader, fromMs)),
  }
}

interface Bucketed {
  readonly buckets: readonly GroupFigures[]
  /** For each bucket, calls between the limits of the heat map. */
  readonly durationCounts: readonly (readonly number[])[]
  readonly summary: GroupFigures
}

/** Figures of each bucket, also of empty ones, and of all buckets together. */
async function bucketsOf(
  reader: CallReader,
  question: Pick<CallQuestion, 'filter' | 'edgesMs' | 'timesFailed'>,
): Promise<Bucketed> {
  const { edgesMs } = question
  const perCell = { ...question, dimension: null, durationLimitsMs: heatLimitsMs }
  const { groups, summary } = await reader.aggregate(perCell)
  const byBucket = new Map(groups.map((group) => [group.bucket, group]))
  const inOrder = edgesMs.slice(1).map((_, bucket) => byBucket.get(bucket))
  return {
    buckets: inOrder.map((group) => group?.figures ?? emptyFigures),
    durationCounts: inOrder.map((group) => group?.durationCounts ?? []),
    summary,
  }
}

/** The answer to a part of the overview; null if sums of folded calls cannot give it. */
async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof FoldedRangeError) return null
    throw error
  }
}

function modelsOf(answer: CallAnswer): readonly OverviewModel[] {
  const groups = answer.groups.filter(({ isRest }) => !isRest)
  const byCost = groups
    .filter(({ figures }) => figures.cost_usd !== null)
    .sort((a, b) => (b.figures.cost_usd ?? 0) - (a.figures.cost_usd ?? 0))
  const shown = new Set([...groups.slice(0, shownModels), ...byCost.slice(0, shownModels)])
  return groups
    .filter((group) => shown.has(group))
    .map(({ value, figures: { calls, errors, total_tokens, cached_share, cost_usd, unpriced_calls } }) => ({
      model: value === null ? null : String(value),
      calls,
      errors,
      total_tokens,
      cached_share,
      cost_usd,
      unpriced_calls,
    }))
}

/** Failed calls by code; the rest of `errors` has no code. */
function failuresOf({ groups }: CallAnswer, errors: number): NonNullable<Overview['failures']> {
  const coded = groups.flatMap(({ value, figures }) =>
    value === null ? [] : [{ failure_code: String(value), calls: figures.calls }],
  )
  const uncoded = errors - coded.reduce((sum, { calls }) => sum + calls, 0)
  const failures = uncoded > 0 ? [...coded, { failure_code: null, calls: uncoded }] : coded
  return failures.sort((a, b) => b.calls - a.calls)
}

/** Single calls, if they are too few for percentiles. */
async function singlesOf(
  reader: CallReader,
  filter: CallFilter,
  edgesMs: readonly number[],
  buckets: readonly GroupFigures[],
): Promise<OverviewSingles | null> {
  const counts = buckets.map(({ duration_ms }) => duration_ms.n)
  const count = counts.reduce((sum, n) => sum + n, 0)
  if (count === 0 || counts.some((n) => n > singlesPerBucket)) return null
  const within = { ...filter, fromMs: edgesMs[0] ?? 0, toMs: edgesMs.at(-1) ?? 0 }
  const calls = await reader.list(within, { limit: count + 1 })
  if (calls.length !== count) return null
  const column = (of: (call: CallJson) => number | null): number[][] => {
    const buckets = edgesMs.slice(1).map((): number[] => [])
    for (const call of calls) {
      const startedMs = Date.parse(call.started_at)
      const value = of(call)
      if (value !== null) buckets[edgesMs.findLastIndex((edge) => edge <= startedMs)]?.push(value)
    }
    return buckets
  }
  return {
    duration_ms: column((call) => call.duration_ms),
    ttft_ms: column((call) => call.ttft_ms),
    output_tokens_per_s: column((call) => call.output_tokens_per_s),
  }
}

/** The slowest calls. Only the buckets with the highest durations are searched, call by call. */
async function slowestOf(
  reader: CallReader,
  filter: CallFilter,
  edgesMs: readonly number[],
  buckets: readonly GroupFigures[],
): Promise<readonly OverviewCall[]> {
  const unfoldedFromMs = (await reader.foldedUntilMs()) ?? 0
  const slowest = buckets
    .map(({ duration_ms }, bucket) => ({ bucket, maxMs: duration_ms.max ?? -1 }))
    .filter(({ bucket, maxMs }) => maxMs >= 0 && (edgesMs[bucket + 1] ?? 0) > unfoldedFromMs)
    .sort((a, b) => b.maxMs - a.maxMs)
    .slice(0, shownCalls)
  const calls: CallJson[] = []
  for (const { bucket } of slowest) {
    const [fromMs = 0, toMs = 0] = edgesMs.slice(bucket, bucket + 2)
    const within: CallFilter = { ...filter, fromMs, toMs }
    calls.push(...(await reader.list(within, { limit: shownCalls, sort: 'duration' })))
  }
  return calls
    .sort((a, b) => (b.duration_ms ?? 0) - (a.duration_ms ?? 0))
    .slice(0, shownCalls)
    .map(shownCall)
}

function shownCall(call: CallJson): OverviewCall {
  return Object.fromEntries(overviewCallFields.map((name) => [name, call[name]])) as unknown as OverviewCall
}

/** The heat map: counts between {@link heatLimitsMs} by bucket of time, cut to the durations that have calls. */
function overviewHeat(counts: readonly (readonly number[])[]): OverviewHeat {
  const used = counts.flatMap((bucket) => bucket.flatMap((calls, bin) => (calls > 0 ? [bin] : [])))
  const first = used.reduce((least, bin) => Math.min(least, bin), heatLimitsMs.length)
  const past = used.reduce((most, bin) => Math.max(most, bin + 1), 0)
  return {
    limits_ms: used.length === 0 ? [] : heatLimitsMs.slice(first, past + 1),
    counts: counts.map((bucket) => {
      const end = bucket.findLastIndex((calls) => calls > 0)
      return bucket.slice(first, end + 1)
    }),
  }
}
