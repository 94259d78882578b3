import type { Overview, OverviewCall, OverviewModel, OverviewSingles } from '../api/overview.ts'
import type { CallAnswer, CallQuestion, GroupFigures } from '../call/call-question.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { CallJson, CallReader } from '../call/call-reader.ts'
import { FoldedRange } from '../call/folded-range.ts'
import { bucketEdges, bucketWidthS } from './chart-buckets.ts'
import { ZonedTime } from '../lib/zoned-time.ts'
import type { PastReader } from '../store/read/history-reader.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import { choicesOf, recordedFrom, resolutionOf } from './list-answer.ts'
import { overviewBuckets, overviewTotals } from './overview-figures.ts'
import { heatLimitsMs, overviewHeat } from './overview-heat.ts'
import { overviewSlots } from './overview-slots.ts'
import type { OverviewQuestion } from './query-question.ts'

const dayMs = 86_400_000
const quarterS = 900
/** Beyond it no call's id can lie. */
const lastMs = 2 ** 41
const latestCalls = 12
const shownCalls = 10
const shownModels = 10
/** Where a bucket has more calls, it has a median. */
const singlesPerBucket = 4
const shownEvents = 30

/** All that the first page shows, over the last 24 hours unless told otherwise. */
export function overviewAnswer(
  reader: CallReader,
  history: PastReader,
  { filter, timeZone }: OverviewQuestion,
  nowMs: number,
): Overview {
  const { fromMs, toMs } = windowOf(filter, nowMs)
  const zone = new ZonedTime(timeZone)
  const isFolded = (reader.foldedUntilMs() ?? 0) > fromMs
  const bucketS = bucketWidthS(fromMs, toMs, isFolded ? quarterS : 0)
  const starts = bucketEdges(zone, bucketS, fromMs, toMs)
  const chatOnly = filter.callTypes === undefined
  const timed: CallFilter = chatOnly ? { ...filter, callTypes: ['chat'] } : filter
  const ask = (rest: Partial<CallQuestion>): CallAnswer =>
    reader.aggregate({ filter, edgesMs: [fromMs, toMs], dimension: null, ...rest })

  const edgesMs = [fromMs, ...starts.slice(1, -1), toMs]
  const all = bucketsOf(reader, filter, edgesMs)
  const timedFigures = timed === filter ? all : bucketsOf(reader, timed, edgesMs)
  const previous = orNull(() => previousOf(reader, filter, timed, fromMs, toMs))
  const inWindow = { ...filter, fromMs, toMs }
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    tz: timeZone,
    bucket_s: bucketS,
    chat_only: chatOnly,
    buckets: overviewBuckets(starts.slice(0, -1), all.buckets, timedFigures.buckets),
    heat: overviewHeat(timedFigures.durationCounts),
    singles: singlesOf(reader, timed, edgesMs, timedFigures.buckets),
    totals: overviewTotals(all.summary, timedFigures.summary),
    previous,
    models: orNull(() => modelsOf(ask({ dimension: 'model', isSumsOnly: true }))),
    failures: orNull(() => {
      const failed = { ...filter, failedOnly: true }
      return failuresOf(
        ask({ dimension: 'failure_code', filter: failed, isSumsOnly: true }),
        all.summary.errors,
      )
    }),
    slots: overviewSlots(history, zone, { fromMs, toMs }, nowMs),
    events: history.events(fromMs, toMs, shownEvents).map(({ atMs, instance, kind, detail }) => ({
      at: new Date(atMs).toISOString(),
      instance,
      kind,
      detail,
    })),
    latest: reader.list(inWindow, { limit: latestCalls }).map(shownCall),
    slowest: slowestOf(reader, timed, edgesMs, timedFigures.buckets),
    failed: reader.list({ ...inWindow, failedOnly: true }, { limit: shownCalls }).map(shownCall),
    ...choicesOf(reader),
    recorded_from: recordedFrom(reader),
    ...resolutionOf(reader, fromMs),
  }
}

/** Ends with a second, so that those who ask within it are answered alike. */
function windowOf(filter: CallFilter, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const nextSecondMs = (Math.floor(nowMs / 1000) + 1) * 1000
  const toMs = Math.min(Math.max(Math.ceil(filter.toMs ?? nextSecondMs), 1), lastMs)
  const fromMs = Math.max(Math.ceil(filter.fromMs ?? toMs - dayMs), 0)
  return { fromMs: Math.min(fromMs, toMs - 1), toMs }
}

interface Bucketed {
  readonly buckets: readonly GroupFigures[]
  /** Between the limits of the heat map. */
  readonly durationCounts: readonly (readonly number[])[]
  readonly summary: GroupFigures
}

/** Figures of each bucket, of empty ones too, and of all together. */
function bucketsOf(reader: CallReader, filter: CallFilter, edgesMs: readonly number[]): Bucketed {
  const question = { filter, edgesMs, dimension: null, durationLimitsMs: heatLimitsMs }
  const { groups, summary } = reader.aggregate(question)
  const found = new Map(groups.map((group) => [group.bucket, group]))
  const inOrder = edgesMs.slice(1).map((_, bucket) => found.get(bucket))
  return {
    buckets: inOrder.map((group) => group?.figures ?? emptyFigures),
    durationCounts: inOrder.map((group) => group?.durationCounts ?? []),
    summary,
  }
}

/** What folded calls do not tell is left out; the rest of the overview is told all the same. */
function orNull<T>(told: () => T): T | null {
  try {
    return told()
  } catch (error) {
    if (error instanceof FoldedRange) return null
    throw error
  }
}

function previousOf(
  reader: CallReader,
  filter: CallFilter,
  timed: CallFilter,
  fromMs: number,
  toMs: number,
): Overview['previous'] {
  const previousMs = fromMs - (toMs - fromMs)
  const firstMs = reader.extent()?.firstMs ?? Number.POSITIVE_INFINITY
  // A window that recording did not reach across compares with nothing.
  if (firstMs > previousMs) return null
  const edgesMs = [previousMs, fromMs]
  const summaryOf = (one: CallFilter): GroupFigures =>
    reader.aggregate({ filter: one, edgesMs, dimension: null }).summary
  const all = summaryOf(filter)
  return overviewTotals(all, timed === filter ? all : summaryOf(timed))
}

function modelsOf({ groups }: CallAnswer): readonly OverviewModel[] {
  const byCost = groups
    .filter(({ figures }) => figures.cost_usd !== null)
    .sort((a, b) => (b.figures.cost_usd ?? 0) - (a.figures.cost_usd ?? 0))
  const shown = new Set([...groups.slice(0, shownModels), ...byCost.slice(0, shownModels)])
  return groups
    .filter((group) => shown.has(group))
    .map(({ entry, figures: { calls, errors, total_tokens, cost_usd, unpriced_calls } }) => ({
      model: entry === null ? null : String(entry),
      calls,
      errors,
      total_tokens,
      cost_usd,
      unpriced_calls,
    }))
}

/** Those without a code are what the codes do not add up to. */
function failuresOf({ groups }: CallAnswer, errors: number): NonNullable<Overview['failures']> {
  const coded = groups.flatMap(({ entry, figures }) =>
    entry === null ? [] : [{ failure_code: String(entry), calls: figures.calls }],
  )
  const uncoded = errors - coded.reduce((sum, { calls }) => sum + calls, 0)
  const failures = uncoded > 0 ? [...coded, { failure_code: null, calls: uncoded }] : coded
  return failures.sort((a, b) => b.calls - a.calls)
}

/** Where calls are so few that percentiles say little: the calls themselves. */
function singlesOf(
  reader: CallReader,
  filter: CallFilter,
  edgesMs: readonly number[],
  buckets: readonly GroupFigures[],
): OverviewSingles | null {
  const counts = buckets.map(({ duration_ms }) => duration_ms.n)
  const count = counts.reduce((sum, n) => sum + n, 0)
  if (count === 0 || counts.some((n) => n > singlesPerBucket)) return null
  const within = { ...filter, outcomes: ['ok' as const], fromMs: edgesMs[0] ?? 0, toMs: edgesMs.at(-1) ?? 0 }
  const calls = reader.list(within, { limit: count + 1 })
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
    ttft_total_ms: column((call) => call.ttft_total_ms),
    output_tokens_per_s: column((call) => call.output_tokens_per_s),
  }
}

/** The slowest calls lie in the buckets whose slowest calls are the slowest: only those are searched, call by call. */
function slowestOf(
  reader: CallReader,
  filter: CallFilter,
  edgesMs: readonly number[],
  buckets: readonly GroupFigures[],
): readonly OverviewCall[] {
  const meansOk = filter.failedOnly !== true && (filter.outcomes ?? ['ok']).includes('ok')
  if (!meansOk) return []
  const keptFromMs = reader.foldedUntilMs() ?? 0
  return buckets
    .map(({ duration_ms }, bucket) => ({ bucket, maxMs: duration_ms.max ?? -1 }))
    .filter(({ bucket, maxMs }) => maxMs >= 0 && (edgesMs[bucket + 1] ?? 0) > keptFromMs)
    .sort((a, b) => b.maxMs - a.maxMs)
    .slice(0, shownCalls)
    .flatMap(({ bucket }) => {
      const [fromMs = 0, toMs = 0] = edgesMs.slice(bucket, bucket + 2)
      const slowest = { limit: shownCalls, sort: 'duration' } as const
      return reader.list({ ...filter, outcomes: ['ok'], fromMs, toMs }, slowest)
    })
    .sort((a, b) => (b.duration_ms ?? 0) - (a.duration_ms ?? 0))
    .slice(0, shownCalls)
    .map(shownCall)
}

function shownCall(call: CallJson): OverviewCall {
  return {
    id: call.id,
    started_at: call.started_at,
    call_type: call.call_type,
    endpoint: call.endpoint,
    model: call.model,
    client: call.client,
    status: call.status,
    outcome: call.outcome,
    failed: call.failed,
    failure_code: call.failure_code,
    stream: call.stream,
    attempts: call.attempts,
    receive_ms: call.receive_ms,
    queue_ms: call.queue_ms,
    retry_wait_ms: call.retry_wait_ms,
    ttft_ms: call.ttft_ms,
    ttft_total_ms: call.ttft_total_ms,
    duration_ms: call.duration_ms,
    input_tokens: call.input_tokens,
    output_tokens: call.output_tokens,
    cost_usd: call.cost_usd,
  }
}
