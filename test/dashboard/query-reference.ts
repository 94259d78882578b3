import assert from 'node:assert/strict'
import { formatCallId, startedAtMs } from '../../src/call/call-id.ts'
import type { GroupFigures, MeasureFigures } from '../../src/call/figures.ts'
import { type CallRecord } from '../../src/call/call-record.ts'
import { isFailed } from '../../src/call/outcome.ts'
import { quantileOf } from '../../src/lib/histogram.ts'

/** Which calls a query selects, found one by one. */
export function selected(calls: readonly CallRecord[], query: URLSearchParams): readonly CallRecord[] {
  const oneOf = (name: string, value: string | number | null): boolean =>
    !query.has(name) || (value !== null && query.getAll(name).includes(String(value)))
  const number = (name: string, without: number): number => Number(query.get(name) ?? without)
  const instant = (name: string, without: number): number =>
    query.has(name) ? Date.parse(query.get(name)!) : without
  return calls.filter((call) => {
    const atMs = startedAtMs(call.id)
    return (
      atMs >= instant('from', 0) &&
      atMs < instant('to', Number.MAX_SAFE_INTEGER) &&
      oneOf('model', call.model) &&
      oneOf('call_type', call.callType) &&
      oneOf('outcome', call.outcome) &&
      oneOf('failure_code', call.failureCode) &&
      oneOf('status', call.status) &&
      oneOf('client', call.client) &&
      oneOf('endpoint', call.endpoint) &&
      oneOf('session', call.session) &&
      oneOf('source', call.source) &&
      hasTags(call, query.getAll('tag')) &&
      (!['true', '1'].includes(query.get('errors_only') ?? '') || isFailed(call.outcome)) &&
      call.durationMs >= number('min_ms', 0) &&
      call.durationMs <= number('max_ms', Number.MAX_SAFE_INTEGER)
    )
  })
}

/** Of each key that is named, one of the tags. */
export function hasTags(call: CallRecord, tags: readonly string[]): boolean {
  const own = call.tags?.split(',') ?? []
  const keyOf = (tag: string): string => tag.slice(0, tag.indexOf(':'))
  return tags.every((tag) => tags.some((other) => keyOf(other) === keyOf(tag) && own.includes(other)))
}

/** What an answer calls a call's entry of a dimension. */
export function entryOf(call: CallRecord, dimension: string): string | number | null {
  switch (dimension) {
    case 'model':
      return call.model
    case 'call_type':
      return call.callType
    case 'outcome':
      return call.outcome
    case 'status':
      return call.status
    case 'client':
      return call.client
    case 'endpoint':
      return call.endpoint
    case 'failure_code':
      return call.failureCode
    case 'session':
      return call.session
    case 'upstream_name':
      return call.upstreamName
    case 'tag:env':
      return /(?:^|,)env:([^,]*)/.exec(call.tags ?? '')?.[1] ?? null
    default:
      throw new Error(`no dimension: ${dimension}`)
  }
}

/** The local name of an hour or day that an instant lies in, by `Intl` alone. */
export function localName(atMs: number, unit: 'hour' | 'day', timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    timeZoneName: 'longOffset',
  })
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
  const date = `${part['year']}-${part['month']}-${part['day']}`
  if (unit === 'day') return date
  const offset = ['GMT', 'GMT+00:00'].includes(part['timeZoneName']!) ? 'Z' : part['timeZoneName']!.slice(3)
  return `${date}T${part['hour']}${offset}`
}

/** What `/api/query` answers: a list, or groups. */
export interface QueryAnswer {
  readonly calls?: readonly { readonly id: string }[]
  readonly groups?: readonly QueriedGroup[]
  readonly summary: GroupFigures
}
type QueriedGroup = GroupFigures & {
  readonly key?: string | number | null
  readonly keys?: Readonly<Record<string, string | number | null>>
}

/** Asserts that an answer is what these calls, the newest first, say one by one. */
export function assertAnswer(answer: QueryAnswer, calls: readonly CallRecord[], question: string): void {
  const query = new URLSearchParams(question)
  const asked = selected(calls, query)
  assertFigures(answer.summary, asked, question)
  const keys = query.get('group_by')?.split(',')
  if (keys === undefined) {
    const ids = asked.map(({ id }) => formatCallId(id))
    assert.deepEqual(
      answer.calls?.map(({ id }) => id),
      ids,
      question,
    )
    return
  }
  const members = Map.groupBy(
    keys.includes('failure_code') ? asked.filter(({ failureCode }) => failureCode !== null) : asked,
    (call) => keys.map((key) => String(nameIn(call, key, query.get('tz') ?? 'UTC'))).join(' '),
  )
  for (const { key, keys: names, ...figures } of answer.groups ?? []) {
    const name = shortName(names === undefined ? String(key) : Object.values(names).map(String).join(' '))
    assertFigures(figures, members.get(name) ?? [], `${question}: ${name}`)
  }
  assert.equal(answer.groups?.filter((group) => group.calls > 0).length, members.size, question)
}

function nameIn(call: CallRecord, key: string, zone: string): string | number | null {
  return key === 'hour' || key === 'day' ? localName(startedAtMs(call.id), key, zone) : entryOf(call, key)
}

/** An hour's key tells its minutes too, which `localName` does not. */
const shortName = (text: string): string => text.replace(/T(\d\d):\d\d(?::\d\d)?/, 'T$1')

/** Asserts that figures are those of exactly these calls: sums the same, percentiles within 1%. */
export function assertFigures(told: GroupFigures, calls: readonly CallRecord[], what: string): void {
  const sum = (of: (call: CallRecord) => number | null): number =>
    calls.reduce((total, call) => total + (of(call) ?? 0), 0)
  const errors = calls.filter(({ outcome }) => isFailed(outcome)).length
  const left = calls.filter(({ outcome }) => outcome === 'client_disconnected').length
  const priced = calls.filter(({ costNanoUsd }) => costNanoUsd !== null)
  assert.deepEqual(
    {
      calls: told.calls,
      errors: told.errors,
      error_rate: told.error_rate,
      input_tokens: told.input_tokens,
      output_tokens: told.output_tokens,
      cached_input_tokens: told.cached_input_tokens,
      cached_share: told.cached_share,
      cache_write_tokens: told.cache_write_tokens,
      reasoning_tokens: told.reasoning_tokens,
      total_tokens: told.total_tokens,
      unpriced_calls: told.unpriced_calls,
      no_usage_calls: told.no_usage_calls,
    },
    {
      calls: calls.length,
      errors,
      error_rate: calls.length === left ? null : errors / (calls.length - left),
      input_tokens: sum((call) => call.inputTokens),
      output_tokens: sum((call) => call.outputTokens),
      cached_input_tokens: sum((call) => call.cachedInputTokens),
      cached_share: shareOf(
        sum((call) => call.cachedInputTokens),
        sum((call) => call.inputTokens),
      ),
      cache_write_tokens: sum((call) => call.cacheWriteTokens),
      reasoning_tokens: sum((call) => call.reasoningTokens),
      total_tokens: sum((call) => call.totalTokens),
      unpriced_calls: calls.filter(
        ({ costNanoUsd, usageSource }) => costNanoUsd === null && usageSource !== 'none',
      ).length,
      no_usage_calls: calls.filter(
        ({ costNanoUsd, usageSource }) => costNanoUsd === null && usageSource === 'none',
      ).length,
    },
    what,
  )
  const saved = sum((call) => call.cacheSavedNanoUsd)
  if (saved !== 0) close(told.cache_saved_usd, saved / 1e9, 1e-9, `${what}: saved`)
  if (priced.length === 0) assert.equal(told.cost_usd, null, what)
  else close(told.cost_usd, sum((call) => call.costNanoUsd) / 1e9, 1e-9, `${what}: cost`)
  const ok = calls.filter(({ outcome }) => outcome === 'ok')
  const values = (of: (call: CallRecord) => number | null): number[] =>
    ok.map(of).filter((value) => value !== null)
  assertMeasure(
    told.duration_ms,
    values((call) => call.durationMs),
    `${what}: duration`,
  )
  assertMeasure(
    told.ttft_ms,
    values((call) => call.ttftMs),
    `${what}: ttft`,
  )
  assertMeasure(
    told.ttft_total_ms,
    values(({ receiveMs, queueMs, retryWaitMs, ttftMs }) =>
      receiveMs === null || queueMs === null || ttftMs === null
        ? null
        : receiveMs + queueMs + (retryWaitMs ?? 0) + ttftMs,
    ),
    `${what}: ttft from arrival`,
  )
  assertMeasure(
    told.queue_ms,
    calls.flatMap(({ queueMs }) => (queueMs === null ? [] : [queueMs])),
    `${what}: queue`,
  )
  assertMeasure(
    told.tpot_ms,
    values((call) => call.tpotMs),
    `${what}: tpot`,
  )
  const speeds = values(({ tpotMs }) => (tpotMs === null || tpotMs === 0 ? null : 1000 / tpotMs))
  // Beside calls that took no time the fastest of the others is known within 1%.
  const maxPart = ok.some(({ tpotMs }) => tpotMs === 0) ? 0.01 : 1e-6
  assertMeasure(told.output_tokens_per_s, speeds, `${what}: speed`, maxPart)
}

function shareOf(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}

function assertMeasure(told: MeasureFigures, values: readonly number[], what: string, maxPart = 1e-6): void {
  assert.equal(told.n, values.length, what)
  if (values.length === 0) {
    assert.deepEqual(told, { n: 0, avg: null, p50: null, p90: null, p95: null, p99: null, max: null }, what)
    return
  }
  const sorted = values.toSorted((a, b) => a - b)
  const at = (quantile: number): number => quantileOf(sorted.length, quantile, (rank) => sorted[rank]!)!
  close(told.avg, values.reduce((total, value) => total + value, 0) / values.length, 1e-6, `${what} avg`)
  close(told.max, sorted.at(-1)!, maxPart, `${what} max`)
  for (const [name, quantile] of [
    ['p50', 0.5],
    ['p90', 0.9],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    close(told[name], at(quantile), 0.01, `${what} ${name}`)
  }
}

function close(told: number | null, expected: number, part: number, what: string): void {
  assert.ok(
    told !== null && Math.abs(told - expected) <= Math.abs(expected) * part + 1e-9,
    `${what}: ${told}, not ${expected}`,
  )
}
