import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startedAtMs } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import type { ImportSource } from './forms.ts'
import { type FoundCall, readText } from './read-import.ts'

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

async function found(text: string, told: ImportSource | null = null): Promise<readonly FoundCall[]> {
  const source = { bytes: text.length, read: () => text.length, pieces: once(text) }
  const { calls } = await readText(source, told)
  return await Array.fromAsync(calls)
}

async function callOf(text: string): Promise<StoredCall> {
  const [{ call, problem } = { call: null, problem: 'none' }] = await found(text)
  assert.equal(problem, '')
  assert.ok(call)
  return call
}

function told(call: StoredCall): Readonly<Record<string, unknown>> {
  const unknown = new Set<unknown>([null, false, 0])
  const { id, ...fields } = call
  const known = Object.entries(fields).filter(([, value]) => !unknown.has(value))
  return { at: new Date(startedAtMs(id)).toISOString(), ...Object.fromEntries(known) }
}

const usage = {
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 7 },
}
const litellm = {
  request_id: 'chatcmpl-1',
  call_type: 'acompletion',
  api_key: '88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b',
  spend: '0.00123',
  total_tokens: '130',
  prompt_tokens: '100',
  completion_tokens: '30',
  startTime: '2026-05-01 12:00:00.25',
  endTime: '2026-05-01 12:00:03.25',
  completionStartTime: '2026-05-01 12:00:00.75',
  model: 'gpt-5.1-mini-2026-08-01',
  model_group: 'gpt-5.1-mini',
  api_base: 'https://api.openai.com/v1/',
  user: 'default_user_id',
  metadata: JSON.stringify({ user_api_key_alias: 'alice', usage_object: usage }),
  request_tags: JSON.stringify([
    'User-Agent: OpenAI',
    'User-Agent: OpenAI/Python 2.9.0',
    'env:prod',
    'nightly',
  ]),
  messages: JSON.stringify([{ role: 'user', content: 'the prompt' }]),
  session_id: 's-1',
  status: 'success',
}

const litellmTold = {
  at: '2026-05-01T12:00:00.250Z',
  source: 'litellm',
  instance: 'litellm',
  callType: 'chat',
  endpoint: '/v1/chat/completions',
  method: 'POST',
  stream: true,
  model: 'gpt-5.1-mini',
  responseModel: 'gpt-5.1-mini-2026-08-01',
  upstream: 'api.openai.com',
  status: 200,
  outcome: 'ok',
  attempts: 1,
  ttftMs: 500,
  durationMs: 3000,
  tpotMs: 2500 / 29,
  inputTokens: 100,
  outputTokens: 30,
  cachedInputTokens: 64,
  reasoningTokens: 7,
  totalTokens: 130,
  usageSource: 'usage',
  upstreamRequestId: 'chatcmpl-1',
  client: 'alice',
  userAgent: 'OpenAI/Python 2.9.0',
  session: 's-1',
  sessionSource: 'session_id',
  tags: 'env:prod,tag:nightly',
  costNanoUsd: 1_230_000,
  priceSource: 'litellm spend',
}

function csvOf(record: Readonly<Record<string, string>>): string {
  const line = (values: readonly string[]): string =>
    `${values.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')}\n`
  return line(Object.keys(record)) + line(Object.values(record))
}

/** As `pg_dump` writes it. */
function dumpOf(record: Readonly<Record<string, string>>): string {
  const names = Object.keys(record).map((name) => (/[A-Z]/.test(name) ? `"${name}"` : name))
  const escaped = (value: string): string =>
    value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `--
-- PostgreSQL database dump
--
COPY public."LiteLLM_UserTable" (user_id, spend) FROM stdin;
someone\t1
\\.

COPY public."LiteLLM_SpendLogs" (${names.join(', ')}) FROM stdin;
${Object.values(record).map(escaped).join('\t')}
\\.
`
}

test('a row of LiteLLM’s spend logs, from CSV, from a dump and from JSON', async () => {
  for (const text of [csvOf(litellm), dumpOf(litellm), `${JSON.stringify(litellm)}\n`]) {
    assert.deepEqual(told(await callOf(text)), litellmTold)
  }
})

test('what failed in LiteLLM says so, and its key is masked', async () => {
  const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'
  const error_information = {
    error_code: '401',
    error_class: 'AuthenticationError',
    error_message: `bad key ${key}`,
  }
  const failed = {
    ...litellm,
    status: 'failure',
    spend: '0',
    metadata: JSON.stringify({ error_information }),
  }
  const call = await callOf(csvOf(failed))
  assert.deepEqual(
    [call.outcome, call.status, call.upstreamErrorCode, call.costNanoUsd],
    ['upstream_error', 401, 'AuthenticationError', null],
  )
  assert.match(call.errorMessage ?? '', /^bad key /)
  assert.doesNotMatch(JSON.stringify(call), /abcdefghijkl|88dc28d0/)
})

test('an entry of llama-swap’s metrics, nested and as it was before', async () => {
  const tokens = {
    cache_tokens: 60,
    input_tokens: 40,
    output_tokens: 50,
    prompt_per_second: 400,
    tokens_per_second: 25,
  }
  const head = { id: 3, timestamp: '2026-05-01T14:00:03.5+02:00', model: 'qwen3', duration_ms: 2500 }
  const nested = {
    ...head,
    req_path: '/v1/chat/completions',
    resp_status_code: 200,
    tokens,
    has_capture: false,
  }
  const figures = { callType: 'chat', inputTokens: 100, outputTokens: 50, cachedInputTokens: 60, tpotMs: 40 }
  for (const entry of [nested, { ...head, ...tokens }]) {
    const call = await callOf(JSON.stringify([entry]))
    assert.deepEqual({ ...told(call), ...figures }, told(call))
    assert.deepEqual([call.upstreamPromptMs, call.upstreamDecodeMs, call.usageSource], [100, 2000, 'timings'])
    assert.equal(told(call)['at'], '2026-05-01T12:00:01.000Z')
  }
  const none = { ...tokens, cache_tokens: -1, prompt_per_second: -1, tokens_per_second: -1 }
  const { inputTokens, tpotMs, usageSource } = await callOf(JSON.stringify([{ ...nested, tokens: none }]))
  assert.deepEqual([inputTokens, tpotMs, usageSource], [40, null, 'usage'])
})

test('a request of Helicone’s export, as JSONL and as CSV', async () => {
  const properties = { 'Helicone-Session-Id': 'run 7', env: 'prod' }
  const request = {
    response_id: 'b',
    response_created_at: '2026-05-01T12:00:02.000Z',
    response_status: 200,
    request_created_at: '2026-05-01T12:00:00.000Z',
    request_body: { messages: [{ content: 'the prompt' }] },
    request_properties: properties,
    request_user_id: 'bob',
    prompt_tokens: 12,
    completion_tokens: 3,
  }
  const json = {
    ...request,
    request_id: 'a',
    request_model: 'm',
    request_path: '/v1/messages',
    delay_ms: 1800,
    costUSD: 0.5,
  }
  const line = await callOf(`${JSON.stringify(json)}\n`)
  assert.deepEqual(
    [line.model, line.endpoint, line.durationMs, line.session, line.tags, line.client, line.costNanoUsd],
    ['m', '/v1/messages', 1800, 'run 7', 'env:prod', 'bob', 500_000_000],
  )
  assert.equal(line.upstreamRequestId, 'a')
  // Its CSV doubles the quotes of JSON twice.
  const body = JSON.stringify(properties).replaceAll('"', '""')
  const csv = csvOf({
    ...request,
    response_status: '200',
    request_body: '',
    request_properties: body,
    model: 'm',
    prompt_tokens: '12',
    completion_tokens: '3',
    latency: '2000',
    cost: '',
  })
  const row = await callOf(csv)
  assert.deepEqual(
    [row.model, row.durationMs, row.session, row.tags, row.costNanoUsd],
    ['m', 2000, 'run 7', 'env:prod', null],
  )
})

test('a call has the same id each time that it is read, and another than any of a gateway', async () => {
  const [one, again] = [await callOf(csvOf(litellm)), await callOf(dumpOf(litellm))]
  assert.equal(one.id, again.id)
  assert.equal(Math.floor((one.id % 4096) / 128), 31)
  assert.notEqual((await callOf(csvOf({ ...litellm, request_id: 'chatcmpl-2' }))).id, one.id)
})

test('what is of no known form, or not of the one that was named, is told', async () => {
  await assert.rejects(found('a,b\n1,2\n'), /no form that can be imported; its columns are a, b$/)
  await assert.rejects(
    found('a,b\n1,2\n', 'litellm'),
    /not LiteLLM_SpendLogs of LiteLLM: it has no column request_id/,
  )
  await assert.rejects(found('{"a":1}\n'), /its columns are a$/)
  await assert.rejects(found('[1'), /line 1, column 3: It is not JSON/)
  await assert.rejects(found(''), /holds no record/)
  await assert.rejects(found('-- PostgreSQL database dump\n'), /no rows of the table "LiteLLM_SpendLogs"/)
})

test('flawed records are told with line and column, and the others are read', async () => {
  const lines = csvOf(litellm).trimEnd().split('\n')
  const [head = '', row = ''] = lines
  const flawed = [
    head,
    row.replace('"130"', '"many"'),
    row.replace('2026-05-01 12:00:00.25', 'yesterday'),
    '"x","y"',
    row,
    '',
  ]
  const told = await found(flawed.join('\n'))
  assert.deepEqual(
    told.map(({ line, call, problem }) => [line, call === null ? problem : 'read']),
    [
      [2, 'column total_tokens: "many" is no number'],
      [3, 'column startTime: "yesterday" is no time'],
      [4, 'it has 2 columns in place of the 19 of the first line'],
      [5, 'read'],
    ],
  )
  const json = JSON.stringify(litellm)
  const [, second, third] = await found(`${json}\n${json.slice(0, 40)}\n${json}`)
  assert.match(second?.problem ?? '', /^column 4\d: It is not JSON: it ends too early/)
  assert.equal(third?.problem, '')
})

test('a dump that was cut off says so, after the rows that it has', async () => {
  const seen: number[] = []
  const text = dumpOf(litellm).replace(/\\\.\n$/, '')
  const { calls } = await readText({ bytes: 1, read: () => 1, pieces: once(text) }, null)
  await assert.rejects(async () => {
    for await (const { line } of calls) seen.push(line)
  }, /the dump ends within a table: it was cut off/)
  assert.deepEqual(seen, [9])
})
