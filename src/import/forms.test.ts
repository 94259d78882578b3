import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { startedAtMs } from '../call/call-id.ts'
import { type StoredCall, type ReadCall } from '../call/call-record.ts'
import type { ImportSource } from './forms.ts'
import { readText } from './read-import.ts'
import { blocksOf } from './text-blocks.ts'

async function imported(text: string, source: ImportSource | null = null): Promise<readonly ReadCall[]> {
  const { calls } = await readText(blocksOf(Readable.from([Buffer.from(text)])), source)
  return await Array.fromAsync(calls)
}

async function callOf(text: string): Promise<StoredCall> {
  const [{ call, problem } = { call: null, problem: 'none' }] = await imported(text)
  assert.equal(problem, '')
  assert.ok(call)
  return call
}

function fieldsOf(call: StoredCall): Readonly<Record<string, unknown>> {
  const unknown = new Set<unknown>([null, false, 0])
  const { id, ...fields } = call
  const entries = Object.entries(fields).filter(([, value]) => !unknown.has(value))
  return { at: new Date(startedAtMs(id)).toISOString(), ...Object.fromEntries(entries) }
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
  request_tags: '["User-Agent: OpenAI","User-Agent: OpenAI/Python 2.9.0","env:prod","nightly"]',
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

/** As LiteLLM's own API has it: objects where CSV has their text, numbers, and instants of ISO 8601. */
const litellmJson = {
  ...litellm,
  spend: 0.00123,
  total_tokens: 130,
  prompt_tokens: 100,
  completion_tokens: 30,
  startTime: '2026-05-01T12:00:00.250Z',
  endTime: '2026-05-01T12:00:03.250000Z',
  completionStartTime: '2026-05-01T12:00:00.75+00:00',
  metadata: JSON.parse(litellm.metadata) as unknown,
  request_tags: JSON.parse(litellm.request_tags) as unknown,
  messages: {},
  end_user: null,
}

const litellmForms = [csvOf(litellm), `${JSON.stringify(litellm)}\n`, JSON.stringify(litellmJson)]

test('a row of LiteLLM’s spend logs, from CSV and from lines of JSON, whether a database or its API wrote them', async () => {
  for (const text of litellmForms) assert.deepEqual(fieldsOf(await callOf(text)), litellmTold)
})

test('an entry has one identity in all forms, and each other entry another', async () => {
  const identities = await Promise.all(litellmForms.map(async (text) => (await imported(text))[0]?.identity))
  assert.equal(new Set(identities).size, 1)
  const others = Object.keys(litellm)
    .filter((name) => !['api_key', 'messages'].includes(name))
    .map(async (name) => {
      const value = litellm[name as keyof typeof litellm]
      const [other] = await imported(
        csvOf({ ...litellm, [name]: value.replace(/\d(?=\D*$)|[a-z](?=[^a-z]*$)/, '2') }),
      )
      assert.equal(other?.problem, '', name)
      return other?.identity
    })
  assert.equal(new Set([...identities, ...(await Promise.all(others))]).size, 1 + others.length)
})

test('what failed in LiteLLM says so, and its key is masked', async () => {
  const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'
  const error = { error_code: '401', error_class: 'AuthenticationError', error_message: `bad key ${key}` }
  const metadata = JSON.stringify({ error_information: error })
  const call = await callOf(csvOf({ ...litellm, status: 'failure', spend: '0', metadata }))
  const { outcome, status, upstreamErrorCode, costNanoUsd } = call
  assert.deepEqual(
    [outcome, status, upstreamErrorCode, costNanoUsd],
    ['upstream_error', 401, error.error_class, null],
  )
  assert.match(call.errorMessage ?? '', /^bad key /)
  assert.doesNotMatch(JSON.stringify(call), /abcdefghijkl|88dc28d0/)
})

test('a request id is kept as a whole, and team and user come before all other tags', async () => {
  const request_id = `resp_${'aB3'.repeat(600)}`
  const request_tags = JSON.stringify(Array.from({ length: 12 }, (_, index) => `tag${index}:on`))
  const call = await callOf(csvOf({ ...litellm, request_id, request_tags, team_id: 'red', end_user: 'bob' }))
  assert.equal(call.upstreamRequestId, request_id)
  assert.match(call.tags ?? '', /^team:red,user:bob,tag0:on,/)
})

test('each way to fail has a failure code', async () => {
  for (const [error_code, code, expected] of [
    ['429', 'upstream_http', 'upstream_error'],
    ['499', 'client_gone', 'client_disconnected'],
    ['', 'upstream_unreachable', 'upstream_error'],
    ['none', 'upstream_unreachable', 'upstream_error'],
  ]) {
    const metadata = JSON.stringify({ error_information: { error_code } })
    const { failureCode, outcome } = await callOf(csvOf({ ...litellm, status: 'failure', metadata }))
    assert.deepEqual([failureCode, outcome], [code, expected])
  }
})

test('amounts that cannot be true are left out of their calls, and told', async () => {
  const [{ call, notes, problem } = {}] = await imported(
    csvOf({ ...litellm, spend: '5000', prompt_tokens: '-1', total_tokens: '9000000000000000000' }),
  )
  assert.equal(problem, '')
  const left = {
    costNanoUsd: null,
    priceSource: null,
    inputTokens: null,
    totalTokens: null,
    outputTokens: 30,
  }
  assert.partialDeepStrictEqual(call, left)
  assert.equal(notes?.map((note) => note.split(':')[0]).join(' '), 'input_tokens total_tokens cost_usd')
})

test('what is of no known form, or not of the one that was named, is told', async () => {
  await assert.rejects(
    imported('a,b\n1,2\n'),
    /it is no export of tokenweir, LiteLLM or the older proxy; its columns are a, b$/,
  )
  const other = /not LiteLLM_SpendLogs of LiteLLM: it has no column request_id/
  await assert.rejects(imported('a,b\n1,2\n', 'litellm'), other)
  await assert.rejects(imported('{"a":1}\n'), /its columns are a$/)
  await assert.rejects(imported('[1]'), /a JSON array cannot be read: write each record on a line/)
  await assert.rejects(imported('{"data":[1'), /a single JSON object cannot be read: .+jq -c "\.data\[\]"/)
  await assert.rejects(imported('{\n"a":1}'), /a single JSON object cannot be read/)
  await assert.rejects(imported(''), /has no records/)
})

test('flawed records are told with line and column, and the others are read', async () => {
  const lines = csvOf(litellm).trimEnd().split('\n')
  const [head = '', row = ''] = lines
  const wrong = [
    row.replace('"130"', '"many"'),
    row.replace('2026-05-01 12:00:00.25', 'yesterday'),
    '"x","y"',
  ]
  const calls = await imported([head, ...wrong, row, ''].join('\n'))
  assert.deepEqual(
    Object.fromEntries(calls.map(({ line, call, problem }) => [line, call === null ? problem : 'read'])),
    {
      2: 'column total_tokens: "many" is not a number',
      3: 'column startTime: "yesterday" is not a time',
      4: 'it has 2 columns, but the first line has 19',
      5: 'read',
    },
  )
  const json = JSON.stringify(litellm)
  const [, second, third] = await imported(`${json}\n${json.slice(0, 40)}\n${json}`)
  assert.match(second?.problem ?? '', /^column 4\d: It is not JSON: it ends too early/)
  assert.equal(third?.problem, '')
})
