import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareCall, chatCall } from '../../test/store/sample-call.ts'
import type { StoredCall } from '../call/call-record.ts'
import { observeRows } from './metrics-observer.ts'
import { loopGauges, openGauges, type ScrapeQuestion, processCounters } from './scrape-question.ts'

/** The lines of a scrape after some calls. */
async function linesAfter(
  calls: readonly StoredCall[],
  question: Partial<ScrapeQuestion> = {},
): Promise<readonly string[]> {
  const observer = observeRows({ version: '1.2.3', instance: 'abc' }, () => {})
  observer.recorded(calls)
  return scrape(observer, question)
}

async function scrape(
  observer: ReturnType<typeof observeRows>,
  question: Partial<ScrapeQuestion> = {},
): Promise<readonly string[]> {
  const names = Object.keys({ ...openGauges, ...loopGauges, ...processCounters })
  const values = Object.fromEntries(names.map((name, at) => [name, at])) as ScrapeQuestion['values']
  const asked: ScrapeQuestion = {
    full: true,
    isOpenMetrics: false,
    warnings: [],
    limits: [],
    values,
    ...question,
  }
  return (await observer.answer!(JSON.stringify(asked))).split('\n')
}

function assertHas(lines: readonly string[], ...expected: readonly string[]): void {
  for (const line of expected) assert.ok(lines.includes(line), line)
}

test('sums and waits are of all calls, times of those that went well', async () => {
  const one = {
    ...chatCall(1),
    model: 'm',
    costNanoUsd: 2_500_000,
    inputTokens: 100,
    cachedInputTokens: 60,
    outputTokens: 20,
    reasoningTokens: 5,
    cacheWriteTokens: 7,
    responseBytes: 1000,
    durationMs: 1500,
    ttftMs: 300,
    tpotMs: 12,
    queueMs: 20,
    overheadMs: 0.4,
  }
  const cut = { ...one, outcome: 'upstream_cut', failureCode: 'upstream_reset', costNanoUsd: null } as const
  const lost = { ...bareCall(4), outcome: 'interrupted', durationMs: null } as const
  const lines = await linesAfter([one, one, cut, lost])
  assertHas(
    lines,
    'tokenweir_calls_total{call_type="chat",model="m",outcome="ok"} 2',
    'tokenweir_calls_total{call_type="chat",model="m",outcome="upstream_cut"} 1',
    'tokenweir_failures_total{failure_code="upstream_reset"} 1',
    'tokenweir_failures_total{failure_code="queue_full"} 0',
    'tokenweir_tokens_total{model="m",type="input"} 300',
    'tokenweir_tokens_total{model="m",type="output"} 60',
    'tokenweir_cached_input_tokens_total 180',
    'tokenweir_cache_write_tokens_total 21',
    'tokenweir_reasoning_tokens_total 15',
    'tokenweir_cost_usd_total{model="m"} 0.005',
    'tokenweir_unpriced_calls_total 1',
    'tokenweir_call_duration_seconds_bucket{le="1",call_type="chat",model="m"} 0',
    'tokenweir_call_duration_seconds_bucket{le="2.5",call_type="chat",model="m"} 2',
    'tokenweir_call_duration_seconds_sum{call_type="chat",model="m"} 3',
    'tokenweir_call_duration_seconds_count{call_type="chat",model="m"} 2',
    'tokenweir_time_to_first_token_seconds_sum{model="m"} 0.6',
    'tokenweir_time_per_output_token_seconds_sum{model="m"} 0.024',
    'tokenweir_queue_wait_seconds_bucket{le="0.05"} 3',
    'tokenweir_overhead_seconds_bucket{le="0.0005"} 2',
    'tokenweir_build_info{version="1.2.3",instance="abc"} 1',
  )
  assert.ok(lines.some((line) => /^tokenweir_calls_total\{.*outcome="interrupted"\} 1$/.test(line)))
})

test('counts that an upstream made up count nothing, and detach nobody', async () => {
  const lines = await linesAfter([
    { ...chatCall(1), model: 'm', inputTokens: -5, outputTokens: Number.MAX_SAFE_INTEGER },
    { ...chatCall(2), model: 'm', inputTokens: 5, outputTokens: null, costNanoUsd: -1 },
  ])
  assertHas(
    lines,
    'tokenweir_tokens_total{model="m",type="input"} 5',
    'tokenweir_tokens_total{model="m",type="output"} 9007199254740991',
  )
})

test('what the gateway tells is shown as of this scrape, warnings too', async () => {
  const observer = observeRows({ version: '1', instance: 'a' }, () => {})
  const first = await scrape(observer, { warnings: ['disk_full', 'wal_large', 'disk_full'] })
  assertHas(first, 'tokenweir_warnings{code="disk_full"} 2', 'tokenweir_warnings{code="wal_large"} 1')
  const second = await scrape(observer)
  assert.ok(second.every((line) => !line.startsWith('tokenweir_warnings{')))
  const dropped = 'tokenweir_telemetry_dropped_total'
  const counter = Object.keys({ ...openGauges, ...loopGauges, ...processCounters }).indexOf(dropped)
  assertHas(second, `${dropped} ${counter}`, 'tokenweir_slots_max 0')
})

test('both formats can be asked for in turn, and say the same', async () => {
  const observer = observeRows({ version: '1', instance: 'a' }, () => {})
  observer.recorded([chatCall(1)])
  const counters = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) => /^tokenweir_\w+(?:_total|_bucket|_count)[ {]/.test(line) && !line.includes('telemetry'),
    )
  const text = await scrape(observer)
  const open = await scrape(observer, { isOpenMetrics: true })
  const again = await scrape(observer)
  assert.deepEqual(counters(open), counters(text))
  assert.deepEqual(counters(again), counters(text))
  assertHas(open, '# TYPE tokenweir_calls counter', '# HELP tokenweir_calls Calls that have ended.')
  assert.deepEqual(open.slice(-2), ['# EOF', ''])
  assert.ok(open.indexOf('') === open.length - 1, 'no empty lines')
  assertHas(again, '# TYPE tokenweir_calls_total counter')
})

test('what providers allow and have left are gauges, which go with what nobody tells any more', async () => {
  const observer = observeRows({ version: '1', instance: 'a' }, () => {})
  const labels = { upstream: 'default', model: 'm\n', key: 'none', kind: 'tokens', window_s: '60' }
  const text = await scrape(observer, {
    limits: [
      { labels, limit: 200_000, remaining: 61_000 },
      { labels: { ...labels, kind: 'requests' }, limit: 500, remaining: null },
    ],
  })
  const of = (kind: string): string =>
    `{upstream="default",model="m\ufffd",key="none",kind="${kind}",window_s="60"}`
  assertHas(
    text,
    `tokenweir_provider_limit${of('tokens')} 200000`,
    `tokenweir_provider_remaining${of('tokens')} 61000`,
    `tokenweir_provider_limit${of('requests')} 500`,
  )
  assert.equal(text.filter((line) => line.startsWith('tokenweir_provider_remaining{')).length, 1)
  const later = await scrape(observer)
  assert.ok(later.every((line) => !line.startsWith('tokenweir_provider_limit{')))
})
