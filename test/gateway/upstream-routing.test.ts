/** Several upstreams behind one address: which one a call goes to, and what is told of it. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { exchange, requestBytes, whenOpen } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { freePort } from '../support/free-port.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { untilWarned } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, stall, until } from '../support/reply-step.ts'
import { bodyReply, jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import {
  setUpstreams,
  startGatewayOfUpstreams,
  untilUpstreams,
  writeUpstreams,
} from '../support/upstreams-file.ts'

function chat(
  gateway: Pick<GatewayProcess, 'port'>,
  model: string,
  path = '/v1/chat/completions',
): Promise<RawResponse> {
  // Spaces and an odd order of members, which a gateway that writes bodies anew would not keep.
  const body = `{ "messages" : [], "temperature":1.0,  "model":${JSON.stringify(model)} }`
  return exchange(gateway.port, 'POST', path, { body, headers: [['Content-Type', 'application/json']] })
}

let ofDefault: (() => ReplyStep[]) | undefined
const byDefault = await startSimulatedUpstream({ reply: () => ofDefault?.() })
const gateway = await startGatewayOfUpstreams({
  upstream: byDefault.baseUrl,
  named: [],
  env: { CLAUDE_KEY: 'sk-ant-test' },
})
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await byDefault.close()
})

test('without a file nothing is told of upstreams; the first file, changes and its end hold at once', async () => {
  await using other = await startSimulatedUpstream()
  const first = await chat(gateway, 'm')
  assert.equal(first.header('x-tokenweir-upstream'), undefined)
  assert.equal((await rowOf(gateway, first)).upstream_name, null)
  assert.equal('upstreams' in (await gateway.health()), false)
  assert.equal((await chat(gateway, 'm', '/other/v1/chat/completions')).status, 404)

  writeUpstreams(gateway.directory, [
    { name: 'other', urls: [other.origin], models: ['m'], max_concurrent: 7 },
  ])
  await untilUpstreams(gateway, 'the file is read', (upstreams) => upstreams.length === 2)
  assert.equal((await chat(gateway, 'm')).header('x-tokenweir-upstream'), 'other')
  const health = (await gateway.health()) as {
    rate_limiter: Record<string, number>
    upstreams: { name: string; rate_limiter: Record<string, number> }[]
  }
  assert.deepEqual(
    health.upstreams.map(({ name, rate_limiter: { max_concurrent, total_admitted } }) => [
      name,
      max_concurrent,
      total_admitted,
    ]),
    [
      ['default', 4, 1],
      ['other', 7, 1],
    ],
  )
  assert.deepEqual([health.rate_limiter['max_concurrent'], health.rate_limiter['total_admitted']], [11, 2])

  writeFileSync(`${gateway.directory}/upstreams.json`, '{"version": 1, "upstreams": [{"name": "other"}]}')
  await untilWarned(
    gateway,
    /^broken_upstreams_file: .*line 1, column \d+: upstreams\[0\]\.urls must be a list .*last valid upstreams stay in force/,
  )
  assert.equal((await gateway.health())['status'], 'degraded')
  assert.equal((await chat(gateway, 'm')).header('x-tokenweir-upstream'), 'other')

  writeUpstreams(gateway.directory, [])
  await untilUpstreams(gateway, 'the file is empty', (upstreams) => upstreams.length === 0)
  assert.equal((await chat(gateway, 'm')).header('x-tokenweir-upstream'), undefined)
})

test('a call goes by its path, else by its model, else to the default, and its bytes are what they were', async () => {
  await using local = await startSimulatedUpstream()
  await using cloud = await startSimulatedUpstream()
  await setUpstreams(gateway, [
    { name: 'local', urls: [local.origin], models: ['llama*', 'qwen-3'] },
    { name: 'cloud', urls: [`${cloud.origin}/api/v3`], models: ['*-large'] },
  ])
  const cases = [
    ['gpt-5', undefined, byDefault, 'default', '/v1/chat/completions'],
    ['llama-3', undefined, local, 'local', '/v1/chat/completions'],
    ['qwen-3', undefined, local, 'local', '/v1/chat/completions'],
    ['qwen-3b', undefined, byDefault, 'default', '/v1/chat/completions'],
    // In the order of the file.
    ['llama-large', undefined, local, 'local', '/v1/chat/completions'],
    ['mistral-large', undefined, cloud, 'cloud', '/api/v3/chat/completions'],
    ['llama-3', '/cloud/v1/chat/completions', cloud, 'cloud', '/api/v3/chat/completions'],
    ['llama-3', '/local/api/chat?a=%2F', local, 'local', '/api/chat?a=%2F'],
    [
      'gemini',
      '/local/v1beta/models/gemini:generateContent',
      local,
      'local',
      '/v1beta/models/gemini:generateContent',
    ],
  ] as const
  const rows: CallJson[] = []
  for (const [model, path, upstream, name, target] of cases) {
    const before = upstream.requests.length
    const answer = await chat(gateway, model, path)
    assert.equal(answer.header('x-tokenweir-upstream'), name, `${model} ${path}`)
    const request = await upstream.waitForRequest(before)
    await request.bodyEnd
    assert.equal(request.target, target)
    const sent = `{ "messages" : [], "temperature":1.0,  "model":${JSON.stringify(model)} }`
    assert.equal(request.body.toString(), sent)
    rows.push(await rowOf(gateway, answer))
  }
  assert.deepEqual(
    fieldsOf(rows, 'upstream_name', 'upstream'),
    cases.map(([, , { port }, name]) => [name, `127.0.0.1:${port}`]),
  )
  // Behind a name what is known of paths is known as well.
  assert.deepEqual(
    [rows[6]?.call_type, rows[6]?.endpoint, rows[6]?.model],
    ['chat', '/v1/chat/completions', 'llama-3'],
  )
  assert.deepEqual([rows[7]?.call_type, rows[7]?.endpoint], ['other', '/api/chat'])
})

test('each upstream has slots and a queue of its own', async () => {
  const gate = Promise.withResolvers<void>()
  const held = { reply: () => ({ steps: [until(gate.promise), ...jsonReply(200, {})] }) }
  await using slow = await startSimulatedUpstream(held)
  await setUpstreams(gateway, [{ name: 'slow', urls: [slow.origin], models: ['slow'], max_concurrent: 1 }])
  const waiting = [chat(gateway, 'slow'), chat(gateway, 'slow'), chat(gateway, 'slow')]
  await untilUpstreams(gateway, 'one is in flight, two wait', (upstreams) => {
    const { active, queued } = upstreams[1]?.rate_limiter ?? {}
    return active === 1 && queued === 2
  })
  for (let calls = 0; calls < 5; calls++) assert.equal((await chat(gateway, 'quick')).status, 200)
  gate.resolve()
  for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200)
  assert.equal(slow.peakInFlight, 1)
})

test('an upstream with Anthropic’s API is asked for all its models with a version', async () => {
  ofDefault = () => jsonReply(200, { object: 'list', data: [{ id: 'gpt-5' }] })
  await using anthropic = await startSimulatedUpstream({
    reply: (request) =>
      request.header('anthropic-version') === undefined || !request.target.includes('limit=1000')
        ? jsonReply(400, { type: 'error', error: { type: 'invalid_request_error', message: 'a header' } })
        : jsonReply(200, { data: [{ id: 'claude-x', type: 'model' }], has_more: false }),
  })
  const credentials = { env: 'CLAUDE_KEY', header: 'x-api-key' }
  await setUpstreams(gateway, [
    { name: 'claude', urls: [anthropic.origin], models: ['claude-*'], credentials },
  ])
  const answer = await exchange(gateway.port, 'GET', '/v1/models')
  assert.equal(answer.header('x-tokenweir-upstreams-missing'), undefined)
  assert.equal(
    answer.body.toString(),
    '{"object":"list","data":[{"id":"gpt-5"},{"id":"claude-x","type":"model"}]}',
  )
})

test('the list of models is that of all upstreams, as each has them, without those that do not tell', async () => {
  const data = [
    { id: 'gpt-5', object: 'model', created: 1, owned_by: 'o' },
    { id: 'llama-3', object: 'model' },
  ]
  ofDefault = () => jsonReply(200, { object: 'list', data })
  await using local = await startSimulatedUpstream({
    reply: () =>
      bodyReply(['{"data":[{"id":"llama-3","meta":{"size":12345678901234567890,"t":1.0}},{"id":"other"}]}']),
  })
  await using silent = await startSimulatedUpstream({ reply: () => [stall()] })
  await setUpstreams(gateway, [
    { name: 'local', urls: [local.origin], models: ['llama*'] },
    { name: 'silent', urls: [silent.origin], models: ['s*'] },
  ])
  let answer = await exchange(gateway.port, 'GET', '/v1/models')
  // On a machine that stands still for two seconds, others do not tell in time, either.
  for (let more = 0; answer.header('x-tokenweir-upstreams-missing') !== 'silent' && more < 4; more++) {
    answer = await exchange(gateway.port, 'GET', '/v1/models')
  }
  assert.equal(answer.status, 200)
  assert.equal(answer.header('x-tokenweir-upstreams-missing'), 'silent')
  // A model of a name goes where its calls go: llama-3 is local's, and what local has besides is not reached by its name.
  assert.equal(
    answer.body.toString(),
    '{"object":"list","data":[{"id":"gpt-5","object":"model","created":1,"owned_by":"o"},{"id":"llama-3","meta":{"size":12345678901234567890,"t":1.0}}]}',
  )
  const one = await exchange(gateway.port, 'GET', '/v1/models/llama-3')
  assert.equal(one.header('x-tokenweir-upstream'), 'local')
  const named = await exchange(gateway.port, 'GET', '/local/v1/models')
  assert.equal(named.header('x-tokenweir-upstream'), 'local')
  for (const told of [answer, one, named]) {
    const { call_type, outcome, status } = await rowOf(gateway, told)
    assert.deepEqual([call_type, outcome, status], ['props', 'ok', 200])
  }
})

test('the most calls at once are those of all upstreams together, not a sum of peaks', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using local = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.baseUrl,
    named: [{ name: 'local', urls: [local.origin], models: ['llama*'] }],
  })
  for (const model of ['gpt-5', 'llama-3', 'gpt-5']) assert.equal((await chat(gateway, model)).status, 200)
  const figures = (await gateway.health())['rate_limiter'] as Record<string, number>
  assert.deepEqual([figures['peak_active'], figures['total_admitted']], [1, 3])
  byDefault.replyOnce([stall()])
  local.replyOnce([stall()])
  await using one = await openRawClient(gateway.port)
  await one.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"gpt-5"}' }))
  await using other = await openRawClient(gateway.port)
  await other.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"llama-3"}' }))
  await Promise.all([byDefault.waitForInFlight(1), local.waitForInFlight(1)])
  const now = (await gateway.health())['rate_limiter'] as Record<string, number>
  assert.deepEqual([now['active'], now['peak_active']], [2, 2])
})

test('an upstream that is removed finishes its calls, and its totals still count', async () => {
  await using byDefault = await startSimulatedUpstream()
  const gate = Promise.withResolvers<void>()
  const steps = (): ReplyStep[] => {
    const [head, ...rest] = bodyReply(['who', 'le'])
    return head === undefined ? [] : [head, until(gate.promise), ...rest]
  }
  await using local = await startSimulatedUpstream({
    reply: ({ method }) => (method === 'GET' ? steps() : undefined),
  })
  const named = { name: 'local', urls: [local.origin], models: ['llama*'] }
  await using gateway = await startGatewayOfUpstreams({ upstream: byDefault.baseUrl, named: [named] })
  assert.equal((await chat(gateway, 'llama-3')).status, 200)
  // A call without a model takes no slot.
  const download = exchange(gateway.port, 'GET', '/local/v1/files/f/content')
  await local.waitForInFlight(1)
  // Each change of the file is a chance to close the connections of upstreams that were removed before.
  for (const name of ['a', 'b', 'c']) await setUpstreams(gateway, [{ name, urls: [byDefault.origin] }])
  gate.resolve()
  assert.equal((await download).body.toString(), 'whole')
  const figures = (await gateway.health())['rate_limiter'] as Record<string, number>
  assert.deepEqual([figures['active'], figures['total_admitted']], [0, 1])
})

test('whoever calls as soon as the port is open is answered', async () => {
  await using upstream = await startSimulatedUpstream()
  const port = await freePort()
  const calls = Array.from({ length: 40 }, () => whenOpen(() => chat({ port }, 'llama-3')))
  await using gateway = await startGatewayOfUpstreams({
    upstream: upstream.baseUrl,
    named: [{ name: 'local', urls: [upstream.origin], models: ['llama*'] }],
    args: ['--port', String(port), '--slot-cooldown-ms', '0'],
  })
  assert.equal(gateway.port, port)
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
})
