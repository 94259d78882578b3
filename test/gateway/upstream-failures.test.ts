/** Replicas that cannot be reached, and upstreams that cannot take a call: nothing that may have been worked on is sent twice. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { cut, reset } from '../support/reply-step.ts'
import { jsonReply, sseEvent, bodyReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { setUpstreams, startGatewayOfUpstreams, untilUpstreams } from '../support/upstreams-file.ts'

function chat(
  gateway: GatewayProcess,
  more: object = {},
  path = '/v1/chat/completions',
): Promise<RawResponse> {
  const body = JSON.stringify({ stream: false, messages: [], ...more })
  return exchange(gateway.port, 'POST', path, { body, headers: [['Content-Type', 'application/json']] })
}

const answersOk = { reply: () => jsonReply(200, { id: 'x', object: 'chat.completion', choices: [{}] }) }

const byDefault = await startSimulatedUpstream(answersOk)
const gateway = await startGatewayOfUpstreams({ upstream: byDefault.origin, named: [] })
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await byDefault.close()
})

test('a replica that refuses is left alone, the call goes to the next one, and nobody notices', async () => {
  await using good = await startSimulatedUpstream(answersOk)
  const port = await freePort()
  await setUpstreams(gateway, [
    { name: 'local', urls: [`http://127.0.0.1:${port}`, good.origin], models: ['*'] },
  ])
  const first = await chat(gateway, { model: 'm' })
  assert.equal(first.status, 200)
  const row = await rowOf(gateway, first)
  assert.deepEqual([row.attempts, row.upstream, row.upstream_name], [2, `127.0.0.1:${good.port}`, 'local'])
  await untilUpstreams(gateway, 'the first is failing', (upstreams) => {
    const [one, two] = upstreams[1]?.replicas ?? []
    return one?.state === 'failing' && one.failing_since !== null && two?.state === 'up'
  })
  // It is left alone for a second, which a busy machine may take to get here, then for two, four and eight.
  let attempts: number | null = null
  for (let times = 0; attempts !== 1 && times < 4; times++) {
    ;({ attempts } = await rowOf(gateway, await chat(gateway, { model: 'm' })))
  }
  assert.equal(attempts, 1)
  await good.close()
  const none = await chat(gateway, { model: 'm' })
  assert.equal(none.status, 502)
  assert.equal((await rowOf(gateway, none)).failure_code, 'upstream_unreachable')
})

test('of several upstreams, the one that failed is named to the client and in the row; alone it is not', async () => {
  const port = await freePort()
  const failing = await startGatewayOfUpstreams({ upstream: `http://127.0.0.1:${port}`, named: [] })
  await using _failing = failing
  const seen = async (model: string, upstream: string | undefined, message: RegExp): Promise<void> => {
    const answer = await chat(failing, { model })
    assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [502, upstream])
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } }
    assert.match(error.message, message)
    assert.equal((await rowOf(failing, answer)).error_message, error.message)
  }
  await seen('m', undefined, /^The upstream cannot be reached/)
  await using cutting = await startSimulatedUpstream({ reply: () => [cut()] })
  await setUpstreams(failing, [
    { name: 'local', urls: [`http://127.0.0.1:${port}`], models: ['qwen*'] },
    { name: 'cutting', urls: [cutting.origin], models: ['cut*'] },
  ])
  await seen('qwen', 'local', /^The upstream local cannot be reached/)
  await seen('cut', 'cutting', /^The upstream cutting closed the connection/)
  await seen('m', 'default', /^The upstream default cannot be reached/)
})

test('what is streamed through goes to the next replica as well, whole', async () => {
  await using good = await startSimulatedUpstream(answersOk)
  const port = await freePort()
  await setUpstreams(gateway, [{ name: 'local', urls: [`http://127.0.0.1:${port}`, good.origin] }])
  const body = Buffer.alloc(3_000_000, 'x')
  assert.equal((await exchange(gateway.port, 'POST', '/local/v1/files', { body })).status, 200)
  assert.equal(good.requests[0]?.body.length, body.length)
})

test('an answer 429, 502, 503 or 529 has the call fall back, where the file says so', async () => {
  let status = 0
  await using busy = await startSimulatedUpstream({ reply: () => jsonReply(status, { error: 'busy' }) })
  await setUpstreams(gateway, [
    { name: 'busy', urls: [busy.origin], models: ['m'], fallback: 'default' },
    { name: 'alone', urls: [busy.origin], models: ['alone'] },
  ])
  for (status of [429, 502, 503, 529]) {
    const answer = await chat(gateway, { model: 'm' })
    assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'default'])
    const row = await rowOf(gateway, answer)
    assert.deepEqual([row.attempts, row.upstream_name, row.outcome], [2, 'default', 'ok'])
    const alone = await chat(gateway, { model: 'alone' })
    assert.deepEqual([alone.status, alone.header('x-tokenweir-upstream')], [status, 'alone'])
    assert.equal(alone.body.toString(), '{"error":"busy"}')
  }
})

test('what may have been worked on does not fall back', async () => {
  await using bad = await startSimulatedUpstream()
  const named = [{ name: 'bad', urls: [bad.origin], models: ['*'], fallback: 'default' }]
  await setUpstreams(gateway, named)
  const before = byDefault.requests.length
  bad.replyOnce(jsonReply(500, {}), jsonReply(504, {}), jsonReply(400, {}), [reset()], [cut()], [])
  const statuses: number[] = []
  for (let calls = 0; calls < 5; calls++) statuses.push((await chat(gateway, { model: 'm' })).status)
  assert.deepEqual(statuses, [500, 504, 400, 502, 502])
  await using impatient = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named,
    args: ['--first-byte-timeout-ms', '200'],
  })
  const late = await chat(impatient, { model: 'm' })
  assert.deepEqual([late.status, late.header('x-tokenweir-error')], [504, 'upstream_timeout'])
  assert.equal(byDefault.requests.length, before)
})

test('an upstream that nobody can reach falls back, to a model by another name, with its usage asked for', async () => {
  const chunk = {
    id: 'x',
    object: 'chat.completion.chunk',
    model: 'there',
    choices: [{ index: 0, delta: { content: 'hi' } }],
  }
  const usage = {
    id: 'x',
    object: 'chat.completion.chunk',
    model: 'there',
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  }
  await using second = await startSimulatedUpstream({
    reply: () =>
      bodyReply([sseEvent(chunk), sseEvent(usage), 'data: [DONE]\n\n'], {
        headers: [['Content-Type', 'text/event-stream']],
      }),
  })
  const port = await freePort()
  const fallback = { to: 'second', models: { here: 'there/"quoted"' } }
  await setUpstreams(gateway, [
    { name: 'first', urls: [`http://127.0.0.1:${port}`], models: ['here', 'unmapped'], fallback },
    { name: 'second', urls: [second.origin], models: ['there*'] },
  ])
  const body = '{"stream":true,  "model" :"here","messages":[{"role":"user","content":"ü"}]}'
  const headers = [['Content-Type', 'application/json']] as const
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body, headers })
  assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'second'])
  assert.equal(answer.body.toString(), `${sseEvent(chunk)}data: [DONE]\n\n`)
  assert.equal(
    second.requests[0]?.body.toString(),
    '{"stream_options":{"include_usage":true},"stream":true,  "model" :"there/\\"quoted\\"","messages":[{"role":"user","content":"ü"}]}',
  )
  const row = await rowOf(gateway, answer)
  assert.deepEqual([row.model, row.input_tokens, row.upstream_name, row.attempts], ['here', 3, 'second', 2])
  // Neither mapped nor the same there.
  const unmapped = await chat(gateway, { model: 'unmapped' })
  assert.equal(unmapped.status, 502)
})
