import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rowOf } from '../support/recorded-calls.ts'
import type { ReplyStep } from '../support/reply-step.ts'
import { bodyReply, type HeaderLines, jsonReply, splitBytes, sseEvent } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const server: HeaderLines = [['Server', 'llama.cpp']]
const sse: HeaderLines = [...server, ['Content-Type', 'text/event-stream']]
const chunk = {
  created: 1,
  id: 'chatcmpl-1',
  model: 'm',
  system_fingerprint: 'b1',
  object: 'chat.completion.chunk',
}
const timings = { cache_n: 4, prompt_n: 3, prompt_ms: 31.5, predicted_n: 2, predicted_ms: 60.25 }
const counts = { completion_tokens: 2, prompt_tokens: 7, total_tokens: 9 }

/** As llama-server streams: the timings stand in the last chunk of each choice, be it the one with its usage. */
function llamaStream(request: string): string {
  const isAsked = request.includes('"include_usage":true')
  const choices = request.includes('"n":2') ? [0, 1] : [0]
  const events: unknown[] = []
  for (const index of choices) {
    const ofChoice = (finish_reason: string | null, delta: object): object => ({
      choices: [{ finish_reason, index, delta }],
      ...chunk,
    })
    const finish = ofChoice('stop', {})
    events.push(ofChoice(null, { role: 'assistant', content: null }))
    events.push(ofChoice(null, { content: 'say "timings":{} wéir' }))
    if (isAsked) events.push(finish, { choices: [], ...chunk, usage: counts, timings })
    else events.push({ ...finish, timings })
  }
  return [...events, '[DONE]'].map((event) => sseEvent(event)).join('')
}

/** Answers as llama-server; `size`: bytes of each write of a stream. */
function asLlama({ headers = sse, size = 10_000 }: { headers?: HeaderLines; size?: number } = {}) {
  return {
    reply: (request: SeenRequest) => ({
      steps: (function* (): Generator<ReplyStep> {
        if (request.method === 'GET') yield* jsonReply(200, { data: [] }, server)
        else yield* bodyReply(splitBytes(llamaStream(request.body.toString()), [size]), { headers })
      })(),
    }),
  }
}

const shared = await shareGateway()
const { gateway } = shared

const body = '{"model":"m","stream":true,"messages":[]}'

function chat(port: number, text = body, prefix = '') {
  return exchange(port, 'POST', `${prefix}/v1/chat/completions`, { body: text })
}

for (const size of [10_000, 1]) {
  test(`the first stream of llama.cpp is as without the gateway, in writes of ${size}`, async () => {
    for (const text of [body, body.replace('{', '{"n":2,')]) {
      await using upstream = await shared.upstream(asLlama({ size }))
      for (const isAsked of [true, false]) {
        const answer = await chat(gateway.port, text, upstream.prefix)
        assert.equal(answer.body.toString(), llamaStream(text))
        assert.ok(answer.complete)
        assert.equal(upstream.requests.at(-1)!.body.includes('include_usage'), isAsked)
        const row = await rowOf(gateway, answer)
        assert.equal(row.outcome, 'ok')
        if (text === body) assert.deepEqual([row.input_tokens, row.output_tokens], [7, 2])
        assert.equal(row.usage_source, isAsked ? 'usage' : 'timings')
      }
    }
  })
}

test('any answer of llama.cpp tells that its streams need not be asked', async () => {
  await using upstream = await shared.upstream(asLlama())
  await rowOf(gateway, await exchange(gateway.port, 'GET', `${upstream.prefix}/v1/models`))
  const answer = await chat(gateway.port, body, upstream.prefix)
  assert.equal(upstream.requests.at(-1)!.body.toString(), body)
  assert.equal(answer.body.toString(), llamaStream(body))
})

test('behind a proxy that hides the server the event stays in once for each start, and no file is written for it', async () => {
  await using upstream = await startSimulatedUpstream(asLlama({ headers: [sse.at(-1)!] }))
  await using folder = await makeTempDir()
  const directory = folder.path
  for (let start = 0; start < 2; start++) {
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, directory })
    const first = await chat(gateway.port)
    assert.match(first.body.toString(), /"choices":\[\]/)
    await rowOf(gateway, first)
    const second = await chat(gateway.port)
    assert.equal(second.body.toString(), llamaStream(body))
    const row = await rowOf(gateway, second)
    assert.deepEqual([row.input_tokens, row.output_tokens], [7, 2])
  }
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes('injection')),
    [],
  )
})
