import type { CallReader, EndedCall } from '../call/call-reader.ts'
import { getOrAdd } from '../lib/get-or-add.ts'
import { upstreamTable } from '../pricing/upstream-table.ts'
import type { AlertsQuestion } from './query-question.ts'

const quarterMs = 900_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The last minutes, by the ends of calls: one that timed out began long before. */
export const windowMs = 300_000
/** Of more calls, the newest are looked at. */
const mostCalls = 100_000
/** For so long calls are read: of a busy day, at the first question, the last hours. */
const readingMs = 1500
/** Of fewer, a percentile says little. */
const leastCalls = 20
const shownNames = 20

/** The body of the answer to an {@link AlertsQuestion}. Times in milliseconds; `n` calls. */
export interface AlertFigures {
  readonly last_seq: number
  /** Of the last five minutes. */
  readonly window: {
    readonly calls: number
    readonly failed: number
    /** Without those whose client left. */
    readonly answered: number
    readonly queue: { readonly n: number; readonly p95_ms: number }
  }
  /** Time to first token of models with enough calls in the last five minutes; beside it that of seven days before. */
  readonly ttft: readonly {
    readonly model: string
    readonly p95_ms: number
    readonly usual: { readonly n: number; readonly p95_ms: number }
  }[]
  /** Tokens of the last five minutes by session, or by client if a call names none; the most first. */
  readonly tokens: readonly {
    readonly by: 'session' | 'client'
    readonly name: string
    readonly tokens: number
  }[]
  /** Calls of the last five minutes without a price, by model; those of upstreams on this machine or network apart. */
  readonly unpriced: readonly { readonly model: string; readonly calls: number }[]
  /** What was added to sessions since the question before, and when the last of these calls ended. */
  readonly sessions: readonly {
    readonly session: string
    readonly cost_usd: number
    readonly ended_ms: number
  }[]
  /** Of the last 24 hours, less up to a quarter of an hour. */
  readonly day: { readonly cost_usd: number; readonly tokens_by_hour: readonly number[] }
}

/** All that the alert rules look at, in one answer. */
export async function alertsAnswer(
  reader: CallReader,
  { afterSeq }: AlertsQuestion,
  nowMs: number,
): Promise<AlertFigures> {
  const fromMs = nowMs - windowMs
  const ended = await reader.endedWithin({
    fromMs: afterSeq === null ? nowMs - dayMs : fromMs,
    // At first, what was written when says nothing.
    afterSeq: afterSeq ?? Number.MAX_SAFE_INTEGER,
    most: mostCalls,
    withinMs: readingMs,
  })
  const recent = ended.filter(({ endedMs }) => endedMs >= fromMs)
  const answered = recent.filter(({ isOk, isFailed }) => isOk || isFailed)
  const waits = known(recent, ({ queueMs }) => queueMs)
  const byName = ({ session, client }: EndedCall): string | null => {
    if (session !== null) return `session ${session}`
    return client === null ? null : `client ${client}`
  }
  const unpriced = recent.filter(({ isUnpriced, upstream }) => isUnpriced && !isLocal(upstream))
  const added = afterSeq === null ? ended : ended.filter(({ seq }) => seq > afterSeq)
  // The newest come first, and so are the last to be set.
  const lastEnds = new Map(added.toReversed().map(({ session, endedMs }) => [session, endedMs]))
  return {
    last_seq: ended.reduce((last, { seq }) => Math.max(last, seq), await reader.lastSeq()),
    window: {
      calls: recent.length,
      failed: answered.filter(({ isFailed }) => isFailed).length,
      answered: answered.length,
      queue: { n: waits.length, p95_ms: p95(waits) },
    },
    ttft: await ttftOf(
      reader,
      recent.filter(({ isOk }) => isOk),
      nowMs,
    ),
    tokens: summed(recent, byName, ({ tokens }) => tokens)
      .slice(0, shownNames)
      .map(([key, tokens]) => {
        const by = key.startsWith('session ') ? 'session' : 'client'
        return { by, name: key.slice(by.length + 1), tokens }
      }),
    unpriced: summed(
      unpriced,
      ({ model }) => model ?? 'no model',
      () => 1,
    )
      .slice(0, shownNames)
      .map(([model, calls]) => ({ model, calls })),
    sessions: summed(
      added,
      ({ session }) => session,
      ({ costUsd }) => costUsd ?? 0,
    ).map(([session, cost_usd]) => ({ session, cost_usd, ended_ms: lastEnds.get(session) ?? nowMs })),
    day: await dayOf(reader, nowMs),
  }
}

async function ttftOf(
  reader: CallReader,
  calls: readonly EndedCall[],
  nowMs: number,
): Promise<AlertFigures['ttft']> {
  const models = new Map<string, number[]>()
  for (const { model, ttftMs } of calls) {
    if (model !== null && ttftMs !== null) getOrAdd(models, model, () => []).push(ttftMs)
  }
  const enough = [...models].filter(([, times]) => times.length >= leastCalls)
  if (enough.length === 0) return []
  const toMs = Math.floor((nowMs - windowMs) / quarterMs) * quarterMs
  const edgesMs = [toMs - 7 * dayMs, toMs]
  const { groups } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'model' })
  return enough.map(([model, times]) => {
    const { n = 0, p95: p95_ms = 0 } = groups.find(({ entry }) => entry === model)?.figures.ttft_ms ?? {}
    return { model, p95_ms: p95(times), usual: { n, p95_ms: p95_ms ?? 0 } }
  })
}

async function dayOf(reader: CallReader, nowMs: number): Promise<AlertFigures['day']> {
  // At quarter hours, where the sums have their edges.
  const firstMs = Math.ceil((nowMs - dayMs) / quarterMs) * quarterMs
  const hours = Array.from({ length: 24 }, (_, hour) => firstMs + hour * hourMs)
  const edgesMs = [...hours, firstMs + dayMs]
  const { groups, summary } = await reader.aggregate({
    filter: {},
    edgesMs,
    dimension: null,
    isSumsOnly: true,
  })
  const tokens_by_hour = hours.map(
    (_, hour) => groups.find(({ bucket }) => bucket === hour)?.figures.total_tokens ?? 0,
  )
  return { cost_usd: summary.cost_usd ?? 0, tokens_by_hour }
}

const listedBy = upstreamTable({})

function isLocal(upstream: string | null): boolean {
  return upstream === null || listedBy(upstream) === 'local'
}

function known(calls: readonly EndedCall[], of: (call: EndedCall) => number | null): number[] {
  return calls.map(of).filter((value) => value !== null)
}

/** The nearest rank; 0 of none. */
function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0
}

/** Sums by a name, the largest first; calls without one are left out. */
function summed(
  calls: readonly EndedCall[],
  nameOf: (call: EndedCall) => string | null,
  of: (call: EndedCall) => number,
): readonly (readonly [name: string, sum: number])[] {
  const sums = new Map<string, number>()
  for (const call of calls) {
    const name = nameOf(call)
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + of(call))
  }
  return [...sums].sort(([, one], [, other]) => other - one)
}
