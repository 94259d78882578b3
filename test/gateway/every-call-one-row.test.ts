import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseCallId, startedAtMs } from '../../src/call/call-id.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { unknownJson } from '../support/call-json.ts'
import { type RequestParts, exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { parseRecord } from '../support/json-record.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { answerAsOpenAi, defaultModel } from '../support/simulated-model.ts'

const { upstream, gateway } = await startGatewayOfFile(
  { args: ['--max-body-mb', '1'], env: { UPSTREAM_API_KEY: undefined } },
  { model: { gapMs: 5, firstByteMs: 5 } },
)

let asked = 0

function ask(method: string, target: string, parts?: RequestParts): Promise<RawResponse> {
  asked++
  return exchange(gateway.port, method, target, parts)
}

/** Asks, and gives the row together with what the client saw. */
async function askForRow(
  method: string,
  target: string,
  body?: unknown,
  headers: RequestParts['headers'] = [],
): Promise<{ readonly row: CallJson; readonly response: RawResponse }> {
  const bytes = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await ask(method, target, { ...bytes, headers })
  const row = await rowOf(gateway, response)
  assertTimesAgree(row)
  assert.equal(row.request_bytes, body === undefined ? 0 : JSON.stringify(body).length)
  assert.equal(row.method, method)
  assert.equal(row.endpoint, target.split('?', 1)[0])
  return { row, response }
}

/** The same for a stream whose chunks come one by one, as each waits until the client has the one before it. */
async function askInStep(body: object): Promise<{ readonly row: CallJson; readonly response: RawResponse }> {
  await using client = await openRawClient(gateway.port)
  asked++
  let chunks = 0
  upstream.replyOnce({ steps: inStep() })
  async function* inStep(): AsyncGenerator<ReplyStep> {
    // Read late: the model's answer depends on the body, which is there by now.
    for (const step of answerAsOpenAi({ ...defaultModel, gapMs: 5 }, upstream.requests.at(-1)!)) {
      if (step.do === 'wait') yield until(untilSeen(client, ++chunks))
      yield step
    }
  }
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: JSON.stringify(body) }))
  const response = await client.response('POST')
  const row = await rowOf(gateway, response)
  assertTimesAgree(row)
  return { row, response }
}

/** Waits until the client has so many of the model's words. */
async function untilSeen(client: RawClient, words: number): Promise<void> {
  const last = JSON.stringify(defaultModel.content[words - 1])
  await client.waitForBytes(`"content":${last}`)
}

/** Times are rounded to microseconds, so sums may be off by a few. */
const roundingMs = 0.01

function assertTimesAgree(row: CallJson): void {
  const spans = ['receive_ms', 'queue_ms', 'retry_wait_ms', 'overhead_ms', 'duration_ms'] as const
  for (const name of spans) assert.ok((row[name] ?? 0) >= 0, `${name} is ${row[name]}`)
  const { duration_ms: duration } = row
  const waits = (row.receive_ms ?? 0) + (row.queue_ms ?? 0) + (row.retry_wait_ms ?? 0)
  assert.ok(waits + row.overhead_ms! <= duration! + roundingMs, JSON.stringify(row))
  const beforeDispatch = (row.receive_ms ?? 0) + (row.queue_ms ?? 0) + (row.retry_wait_ms ?? 0)
  if (row.ttft_ms === null) assert.equal(row.ttft_total_ms, null)
  else assert.ok(Math.abs(row.ttft_total_ms! - row.ttft_ms - beforeDispatch) < roundingMs)
  const steps = [row.connect_ms, row.ttfb_ms, row.ttft_ms, row.ttfo_ms].filter((step) => step !== null)
  for (let i = 1; i < steps.length; i++) assert.ok(steps[i]! >= steps[i - 1]!, JSON.stringify(row))
  assert.ok(waits + (steps.at(-1) ?? 0) <= duration! + roundingMs, JSON.stringify(row))
  const began = startedAtMs(parseCallId(row.id)!)
  assert.equal(new Date(row.started_at).getTime(), began)
  assert.ok(Math.abs(Date.now() - began) < 60_000)
}

test('a chat call', async () => {
  const body = { model: 'gpt-x', messages: [{ role: 'user', content: 'What does a weir do?' }] }
  const { row, response } = await askForRow('POST', '/v1/chat/completions', body)
  const { id, started_at, ...rest } = row
  const times = ['receive_ms', 'queue_ms', 'connect_ms', 'ttfb_ms', 'duration_ms', 'overhead_ms'] as const
  for (const name of times) assert.equal(typeof rest[name], 'number', name)
  assert.ok(rest.ttfb_ms! >= 4)
  assert.deepEqual(
    { ...rest, ...Object.fromEntries(times.map((name) => [name, 0])) },
    {
      ...unknownJson,
      call_type: 'chat',
      endpoint: '/v1/chat/completions',
      method: 'POST',
      stream: false,
      model: 'gpt-x',
      response_model: 'gpt-x',
      upstream: `127.0.0.1:${upstream.port}`,
      instance: String((await gateway.health())['instance']),
      status: 200,
      outcome: 'ok',
      failed: false,
      finish_reason: 'stop',
      attempts: 1,
      receive_ms: 0,
      queue_ms: 0,
      retry_wait_ms: 0,
      connect_ms: 0,
      ttfb_ms: 0,
      duration_ms: 0,
      overhead_ms: 0,
      input_tokens: 11,
      output_tokens: 7,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      cache_write_1h_tokens: 0,
      reasoning_tokens: 0,
      tool_calls: 0,
      total_tokens: 18,
      usage_source: 'usage',
      request_bytes: JSON.stringify(body).length,
      response_bytes: response.body.length,
      upstream_request_id: response.header('x-request-id'),
    },
  )
  assert.equal(id, response.header('x-tokenweir-call-id'))
  assert.ok(started_at.endsWith('Z'))
})

test('a streamed chat call, with and without usage', async () => {
  const body = { model: 'gpt-x', stream: true, stream_options: { include_usage: true }, messages: [] }
  const { row, response } = await askInStep(body)
  assert.deepEqual(
    [row.stream, row.outcome, row.finish_reason, row.chunks, row.usage_source],
    [true, 'ok', 'stop', 7, 'usage'],
  )
  assert.deepEqual([row.input_tokens, row.output_tokens, row.total_tokens], [11, 7, 18])
  assert.equal(row.response_bytes, response.body.length)
  assert.ok(row.ttft_ms! >= row.ttfb_ms! && row.ttfo_ms === row.ttft_ms)
  // Six gaps of five milliseconds at least lie between seven chunks.
  assert.ok(
    row.tpot_ms! >= 4 && row.ttft_ms! + 6 * row.tpot_ms! <= row.duration_ms! + roundingMs,
    `${row.tpot_ms}`,
  )
  assert.ok(Math.abs(row.output_tokens_per_s! - 1000 / row.tpot_ms!) < 0.5)
  assert.ok(
    row.gap_p50_ms! >= 3 && row.gap_p50_ms! <= row.gap_p95_ms! && row.gap_p95_ms! <= row.gap_max_ms! * 1.1,
  )
  const { row: without } = await askForRow('POST', '/v1/chat/completions', {
    model: 'gpt-x',
    stream: true,
    stream_options: { include_usage: false },
  })
  assert.deepEqual(
    [without.usage_source, without.input_tokens, without.output_tokens, without.tpot_ms, without.chunks],
    ['none', null, null, null, 7],
  )
})

test('legacy completions, embeddings, rerank, models, props', async () => {
  const { row: text } = await askForRow('POST', '/v1/completions', { model: 'm', prompt: 'a weir' })
  assert.deepEqual([text.call_type, text.total_tokens, text.finish_reason], ['chat', 18, 'stop'])
  const { row: streamed } = await askForRow('POST', '/v1/completions', {
    model: 'm',
    prompt: 'a',
    stream: true,
  })
  assert.deepEqual([streamed.call_type, streamed.chunks, streamed.finish_reason], ['chat', 7, 'stop'])
  const { row: vectors } = await askForRow('POST', '/v1/embeddings', { model: 'e', input: ['a', 'b'] })
  assert.deepEqual(
    [vectors.call_type, vectors.model, vectors.response_model, vectors.input_tokens, vectors.output_tokens],
    ['embedding', 'e', 'sim-small', 11, 0],
  )
  for (const path of ['/v1/rerank', '/rerank', '/reranking']) {
    const { row } = await askForRow('POST', path, { model: 'r', query: 'q', documents: ['a', 'b'] })
    assert.deepEqual([row.call_type, row.model, row.input_tokens], ['rerank', 'r', 11], path)
  }
  for (const path of ['/v1/models?limit=1', '/v1/models/org%2Fname', '/props']) {
    const { row } = await askForRow('GET', path)
    assert.deepEqual(
      [row.call_type, row.model, row.usage_source, row.stream],
      ['props', null, 'none', false],
      path,
    )
  }
})

test('what fits no named kind is recorded as other, its sizes counted', async () => {
  upstream.replyOnce(jsonReply(200, { text: 'a weir' }))
  const form = '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nRIFF....\r\n--x--\r\n'
  const headers = [['Content-Type', 'multipart/form-data; boundary=x']] as const
  const response = await ask('POST', '/v1/audio/transcriptions', { headers, body: form })
  const row = await rowOf(gateway, response)
  assertTimesAgree(row)
  assert.deepEqual(
    [row.call_type, row.outcome, row.request_bytes, row.response_bytes, row.model],
    ['other', 'ok', form.length, response.body.length, null],
  )
  for (const method of ['OPTIONS', 'HEAD', 'GET']) {
    const { row: asked } = await askForRow(method, '/v1/chat/completions')
    assert.equal(asked.call_type, 'other', method)
  }
})

test('who called: label, session, user agent, retry count, and a fingerprint for the key', async () => {
  const named = async (headers: RequestParts['headers']): Promise<CallJson> =>
    (await askForRow('POST', '/v1/chat/completions', { model: 'm' }, headers)).row
  const labelled = await named([
    ['User-Agent', 'OpenAI/Python 2.1.0'],
    ['x-tokenweir-client', 'nightly'],
    ['x-tokenweir-session', 'run-1'],
    ['x-stainless-retry-count', '2'],
    ['Authorization', 'Bearer sk-who-called-0001'],
  ])
  assert.deepEqual(
    [labelled.client, labelled.session, labelled.user_agent, labelled.client_retry],
    ['nightly', 'run-1', 'OpenAI/Python 2.1.0', 2],
  )
  assert.match(labelled.key_fingerprint ?? '', /^[0-9a-f]{8}$/)
  const plain = await named([
    ['User-Agent', 'OpenAI/Python 2.1.0'],
    ['x-api-key', 'sk-who-called-0001'],
  ])
  assert.deepEqual([plain.client, plain.session], ['OpenAI/Python', null])
  assert.equal(plain.key_fingerprint, labelled.key_fingerprint)
  const other = await named([['Authorization', 'Bearer sk-who-called-0002']])
  assert.notEqual(other.key_fingerprint, labelled.key_fingerprint)
})

test('the command line tells the same', async () => {
  const rows = await recordedCalls(gateway, asked)
  const main = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
  const args = [main, 'calls', '--json', '--recent', '1000', '--db', gateway.databaseFile]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.deepEqual(stdout.trimEnd().split('\n').map(parseRecord), rows)
})
