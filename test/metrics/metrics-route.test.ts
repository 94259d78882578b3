import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { exchange } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { promtool } from '../support/prometheus.ts'
import { until } from './until-answered.ts'

const adminToken = 'the-admin-token-of-this-test'
const { upstream, gateway } = await startGatewayOfFile({
  args: ['--max-concurrent', '7', '--token-limit', '1000'],
  env: { TOKENWEIR_ADMIN_TOKEN: adminToken },
})

type Headers = Readonly<Record<string, string>>
/** As who stands behind a proxy. */
const asStranger = { via: '1.1 somewhere' }

async function call(to: GatewayProcess, model: string): Promise<void> {
  const body = JSON.stringify({ model, messages: [] })
  const answer = await fetch(`${to.baseUrl}/chat/completions`, { method: 'POST', body })
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
}

async function scrape(headers: Headers = {}): Promise<string> {
  const answer = await fetch(`${gateway.origin}/metrics`, { headers })
  const text = await answer.text()
  // The thread that counts may hardly have begun.
  if (answer.status === 503) return ''
  assert.equal(answer.status, 200)
  return text
}

/** The scrape in which a line stands. */
function untilScraped(line: string, headers: Headers = {}): Promise<string> {
  return until(line, async () => {
    const text = await scrape(headers)
    return text.split('\n').includes(line) ? text : null
  })
}

test('a call is in the next scrapes, in the text format', async () => {
  await call(gateway, 'model-a')
  const text = await untilScraped('tokenweir_calls_total{call_type="chat",model="model-a",outcome="ok"} 1')
  for (const line of [
    'tokenweir_tokens_total{model="model-a",type="input"} 11',
    'tokenweir_tokens_total{model="model-a",type="output"} 7',
    'tokenweir_call_duration_seconds_count{call_type="chat",model="model-a"} 1',
    'tokenweir_queue_wait_seconds_count 1',
    'tokenweir_overhead_seconds_count 1',
    'tokenweir_failures_total{failure_code="upstream_http"} 0',
    'tokenweir_slots_max 7',
    'tokenweir_budget_limit_tokens 1000',
    'tokenweir_budget_used_tokens 18',
    'tokenweir_telemetry_dropped_total 0',
    'tokenweir_retries_429_total 0',
  ])
    assert.ok(text.split('\n').includes(line), line)
  assert.match(text, /^tokenweir_build_info\{version="[\d.]+",instance="\w{8}"\} 1$/m)
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_heap_size_used_bytes',
  ])
    assert.ok(new RegExp(`^${name} (?!0$)\\d`, 'm').test(text), name)
  promtool(['check', 'metrics'], { input: text })
})

test('docs/metrics.md names the series that there are', async () => {
  const doc = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  const [, table = ''] = doc.split('## Series')
  const told = new Set([...table.split('\n* ')[0]!.matchAll(/`(tokenweir_\w+)`/g)].map(([, name]) => name))
  const there = [...(await scrape()).matchAll(/^# TYPE (tokenweir_\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(told, new Set(there))
})

test('Accept decides between text and OpenMetrics', async () => {
  const [text, open] = [
    'text/plain; version=0.0.4; charset=utf-8',
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  ]
  for (const [accept, type] of [
    ['*/*', text],
    ['text/plain', text],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      open,
    ],
    ['text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.3', text],
    ['application/openmetrics-text;q=0, */*', text],
  ] as const) {
    const answer = await fetch(`${gateway.origin}/metrics`, { headers: { accept } })
    assert.equal(answer.headers.get('content-type'), type, accept)
    const body = await answer.text()
    assert.equal(body.endsWith('\n# EOF\n'), type === open)
    assert.match(
      body,
      type === open ? /^# TYPE tokenweir_calls counter$/m : /^# TYPE tokenweir_calls_total counter$/m,
    )
    assert.match(body, /^tokenweir_calls_total\{/m)
  }
})

test('strangers see slots and budget, as in /health; the admin token opens the rest', async () => {
  const names = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  const open = [
    'tokenweir_slots_max',
    'tokenweir_slots_active',
    'tokenweir_queue_length',
    'tokenweir_budget_limit_tokens',
    'tokenweir_budget_used_tokens',
  ]
  assert.deepEqual(names(await scrape(asStranger)), open)
  assert.deepEqual(names(await scrape({ ...asStranger, authorization: 'Bearer guess' })), open)
  for (const token of [{ 'x-tokenweir-admin-token': adminToken }, { authorization: `Bearer ${adminToken}` }])
    assert.ok(names(await scrape({ ...asStranger, ...token })).includes('tokenweir_calls_total'))
})

test('a name that is not allowed is refused, and so is another method; HEAD has no body', async () => {
  for (const [method, host, status] of [
    ['POST', 'localhost', 405],
    ['GET', 'attacker.example', 403],
    ['GET', 'localhost', 200],
  ] as const)
    assert.equal((await exchange(gateway.port, method, '/metrics', { host })).status, status)
  const head = await fetch(`${gateway.origin}/metrics`, { method: 'HEAD' })
  assert.equal(head.status, 200)
  assert.equal(await head.text(), '')
})

test('--metrics off: there is no such route', async () => {
  await using without = await startGatewayProcess({ upstream: upstream.baseUrl, args: ['--metrics', 'off'] })
  const answer = await fetch(`${without.origin}/metrics`)
  assert.equal(answer.status, 404)
  assert.equal(answer.headers.get('x-tokenweir-error'), 'not_found')
})

test('a writer that stands still: 503 after two seconds, and calls go on', async () => {
  const preload = fileURLToPath(new URL('stuck-writer.ts', import.meta.url))
  await using stuck = await startGatewayProcess({
    upstream: upstream.baseUrl,
    nodeArgs: ['--import', preload],
  })
  const scrapes = [1, 2, 3].map(() => fetch(`${stuck.origin}/metrics`))
  await call(stuck, 'model-b')
  for (const answer of await Promise.all(scrapes)) {
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('x-tokenweir-error'), 'metrics_late')
  }
})
