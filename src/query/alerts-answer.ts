import { quantileOf } from '../lib/histogram.ts'
import type { CallAnswer } from '../call/call-question.ts'
import type { CallReader, EndedCall, StoreReader } from '../call/call-reader.ts'
import { getOrAdd } from '../lib/get-or-add.ts'
import { upstreamTable } from '../pricing/upstream-table.ts'
import { type AlertsQuestion, mostEntries } from './query-question.ts'

const quarterMs = 900_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The window of the rules: calls that ended within this time, because a call that timed out began long before. */
export const windowMs = 300_000
/** Most time by which a call may end in the future, after another machine's clock; a later end is of a clock that was set back since. */
const aheadMs = 60_000
/** Most calls that a rule reads: the newest ones. */
const mostCalls = 100_000
/** Time limit for reading calls. On a busy day, the first question reads only the last hours. */
const readingMs = 1500
/** Fewest calls for a percentile. */
const minSample = 20
const shownNames = 20

/** The body of the answer to an {@link AlertsQuestion}. Times are in milliseconds; `n` is a number of calls. */
export interface AlertSums {
  readonly last_seq: number
  /** Counts of the last five minutes; `answered` leaves out calls whose client left. */
  readonly window: Readonly<{ calls: number; failed: number; answered: number; queue: Percentile }>
  /** Time to first token of models with enough calls in the last five minutes, and that of the seven days before. */
  readonly ttft: readonly Readonly<{ model: string; p95_ms: number; usual: Percentile }>[]
  /** Tokens of the last five minutes by session, or by client for calls without one; the largest first. */
  readonly tokens: readonly Readonly<{ by: 'session' | 'client'; name: string; tokens: number }>[]
  /** Calls of the last five minutes without a price, by model, without those of upstreams on this machine or network. */
  readonly unpriced: readonly Readonly<{ model: string; calls: number }>[]
  /** Cost that sessions have added since the last question, and the end of the newest of these calls. */
  readonly sessions: readonly Readonly<{ session: string; cost_usd: number; ended_ms: number }>[]
  /** Cost and tokens of the last 24 hours, less up to a quarter of an hour. */
  readonly day: Readonly<{ cost_usd: number; tokens_by_hour: readonly number[] }>
  /** Cost since the first of this month, in the time zone of this process. */
  readonly month: Readonly<{ cost_usd: number }>
}

type Percentile = Readonly<{ n: number; p95_ms: number }>

/** All figures for the alert rules, in one answer. */
export async function alertsAnswer(
  reader: StoreReader,
  { afterSeq }: AlertsQuestion,
  nowMs: number,
): Promise<AlertSums> {
  const windowFromMs = nowMs - windowMs
  // The first question has no `seq`, so it reads by time.
  const [fromMs, after] =
    afterSeq === null ? [nowMs - dayMs, Number.MAX_SAFE_INTEGER] : [windowFromMs, afterSeq]
  const bounds = { fromMs, afterSeq: after, most: mostCalls, withinMs: readingMs }
  const ended = await reader.endedWithin(bounds)
  const recent = ended.filter(({ endedMs }) => endedMs >= windowFromMs && endedMs <= nowMs + aheadMs)
  const answered = recent.filter(({ isOk, isFailed }) => isOk || isFailed)
  const failed = answered.filter(({ isFailed }) => isFailed).length
  const waits = recent.map(({ queueMs }) => queueMs).filter((ms) => ms !== null)
  const queue = { n: waits.length, p95_ms: p95(waits) }
  const unpriced = recent.filter(({ isUnpriced, upstream }) => isUnpriced && !isLocal(upstream))
  const models = summed(unpriced.map(({ model }) => [model ?? 'no model', 1]))
  const bySession = summed(recent.map(({ session, tokens }) => [session, tokens]))
  const outside = recent.filter(({ session }) => session === null)
  const byClient = summed(outside.map(({ client, tokens }) => [client, tokens]))
  const users = [
    ...bySession.map(([name, tokens]) => ({ by: 'session' as const, name, tokens })),
    ...byClient.map(([name, tokens]) => ({ by: 'client' as const, name, tokens })),
  ]
  const added = afterSeq === null ? ended : ended.filter(({ seq }) => seq > afterSeq)
  const spentUsd = summed(added.map(({ session, costUsd }) => [session, costUsd ?? 0]))
  // Calls come newest first. In reverse, the newest call of a session is set last.
  const lastEnds = new Map(added.toReversed().map(({ session, endedMs }) => [session, endedMs]))
  const ok = recent.filter(({ isOk }) => isOk)
  return {
    last_seq: ended.reduce((last, { seq }) => Math.max(last, seq), await reader.lastSeq()),
    window: { calls: recent.length, failed, answered: answered.length, queue },
    ttft: await ttftOf(reader, ok, nowMs),
    tokens: users.toSorted((a, b) => b.tokens - a.tokens).slice(0, shownNames),
    unpriced: models.slice(0, shownNames).map(([model, calls]) => ({ model, calls })),
    sessions: spentUsd.map(([session, cost_usd]) => {
      return { session, cost_usd, ended_ms: lastEnds.get(session) ?? nowMs }
    }),
    day: await dayOf(reader, nowMs),
    month: await monthOf(reader, nowMs),
  }
}

async function ttftOf(
  reader: CallReader,
  calls: readonly EndedCall[],
  nowMs: number,
): Promise<AlertSums['ttft']> {
  const models = new Map<string, number[]>()
  for (const { model, ttftMs } of calls) {
    if (model !== null && ttftMs !== null) getOrAdd(models, model, () => []).push(ttftMs)
  }
  const enough = [...models].filter(([, times]) => times.length >= minSample)
  if (enough.length === 0) return []
  // Whole hours, because the sums by model have their edges there.
  const toMs = Math.floor((nowMs - windowMs) / hourMs) * hourMs
  const edgesMs = [toMs - 7 * dayMs, toMs]
  const { groups } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'model', top: mostEntries })
  return enough.map(([model, times]) => {
    const { n = 0, p95: p95_ms = 0 } = groups.find(({ value }) => value === model)?.figures.ttft_ms ?? {}
    return { model, p95_ms: p95(times), usual: { n, p95_ms: p95_ms ?? 0 } }
  })
}

async function dayOf(reader: StoreReader, nowMs: number): Promise<AlertSums['day']> {
  // Quarter hours, because the sums of all calls have their edges there.
  const firstMs = Math.ceil((nowMs - dayMs) / quarterMs) * quarterMs
  const { summary } = await sumsOf(reader, [firstMs, firstMs + dayMs])
  const edgesMs = Array.from({ length: 25 }, (_, hour) => nowMs - dayMs + hour * hourMs)
  // Counted like the budget: without imported calls, and with estimates.
  const tokens_by_hour = await reader.history.budgetTokens(edgesMs)
  return { cost_usd: summary.cost_usd ?? 0, tokens_by_hour }
}

async function monthOf(reader: CallReader, nowMs: number): Promise<AlertSums['month']> {
  const now = new Date(nowMs)
  const fromMs = new Date(now.getFullYear(), now.getMonth()).getTime()
  const toMs = Math.floor(nowMs / quarterMs + 1) * quarterMs
  const { summary } = await sumsOf(reader, [fromMs, toMs])
  return { cost_usd: summary.cost_usd ?? 0 }
}

function sumsOf(reader: CallReader, edgesMs: readonly number[]): Promise<CallAnswer> {
  return reader.aggregate({ filter: {}, edgesMs, dimension: null, isSumsOnly: true })
}

const listedBy = upstreamTable({})

function isLocal(upstream: string | null): boolean {
  return upstream === null || listedBy(upstream) === 'local'
}

/** The 95th percentile, as on the page; 0 without values. */
function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return quantileOf(sorted.length, 0.95, (rank) => sorted[rank] ?? 0) ?? 0
}

/** Sums by name, the largest first; values without a name are left out. */
function summed(
  parts: readonly (readonly [name: string | null, part: number])[],
): readonly (readonly [name: string, sum: number])[] {
  const sums = new Map<string, number>()
  for (const [name, part] of parts) {
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + part)
  }
  return [...sums].sort(([, a], [, b]) => b - a)
}
