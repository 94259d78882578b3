/** What the Responses API makes in the background is counted once, whoever fetches it, and however. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { asRecord } from '../support/json-record.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { bodyReply, jsonReply, sseEvent } from '../support/response-bytes.ts'
import { shareGateway } from '../support/shared-gateway.ts'

const usage = { input_tokens: 5000, output_tokens: 900, total_tokens: 5900 }
const queued = { id: 'resp_bg', status: 'queued', usage: null }
const going = { id: 'resp_bg', object: 'response', status: 'in_progress', background: true, usage: null }
const made = { id: 'resp_bg', object: 'response', status: 'completed', model: 'weir-4', usage }
const stopped = { ...made, status: 'cancelled', usage: { ...usage, output_tokens: 0, total_tokens: 5000 } }

const begun = [
  { type: 'response.created', response: { ...going, status: 'queued' } },
  { type: 'response.in_progress', response: going },
  { type: 'response.output_text.delta', delta: 'Water' },
]
const ended = { type: 'response.completed', response: made }

type Step = readonly [request: string, answer: object | readonly object[], counted: number]
const path = '/v1/responses/resp_bg'
const post = 'POST /v1/responses'
const get = `GET ${path}`
const resumed = `${get}?stream=true&starting_after=2`
const cases: Readonly<Record<string, readonly Step[]>> = {
  'fetched until it is made': [
    [post, queued, 0],
    [get, going, 0],
    [get, made, 5900],
    [get, made, 0],
    [resumed, [ended], 0],
  ],
  'fetched without words for what it is': [
    [post, queued, 0],
    [get, { status: 'completed', usage }, 5900],
    ['GET /v1//responses/resp_bg/', { status: 'completed', usage }, 0],
  ],
  'with zeros until it is made': [
    [post, { ...going, usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } }, 0],
    [get, made, 5900],
  ],
  'a stream to its end': [
    [post, [...begun, ended], 5900],
    [get, made, 0],
    [resumed, [ended], 0],
  ],
  'a stream that ends early, and is resumed': [
    [post, begun, 0],
    [resumed, [ended], 5900],
    [resumed, [ended], 0],
    [get, made, 0],
  ],
  'canceled half-way': [
    [post, queued, 0],
    [`POST ${path}/cancel`, stopped, 5000],
    [get, stopped, 0],
  ],
  'made elsewhere': [[get, made, 0]],
  'made at once, and begun anew': [
    [post, made, 5900],
    [get, made, 0],
    [post, queued, 0],
    [get, made, 5900],
  ],
}

const shared = await shareGateway()
const { gateway } = shared

/** What upstreams reported. */
async function countedTokens(): Promise<number> {
  const { total_used: used, estimated } = asRecord((await gateway.health())['token_budget'])
  return Number(used) - Number(estimated)
}

for (const [name, steps] of Object.entries(cases)) {
  test(`a response in the background, ${name}`, async () => {
    await using upstream = await shared.upstream()
    const before = await countedTokens()
    let sum = 0
    for (const [request, answer, counted] of steps) {
      const [method = '', target = ''] = request.split(' ')
      upstream.replyOnce(
        Array.isArray(answer)
          ? bodyReply([answer.map((event) => sseEvent(event)).join('')], {
              headers: [['Content-Type', 'text/event-stream']],
            })
          : jsonReply(200, answer),
      )
      const body = method === 'POST' ? { body: '{"model":"weir-4","background":true}' } : {}
      const row = await rowOf(gateway, await exchange(gateway.port, method, upstream.prefix + target, body))
      const used = (row.input_tokens ?? 0) + (row.output_tokens ?? 0)
      assert.deepEqual(
        [used, row.usage_source],
        [counted, counted === 0 ? row.usage_source : 'usage'],
        request,
      )
      if (counted > 0) assert.equal(row.model, 'weir-4', request)
      sum += counted
    }
    assert.equal((await countedTokens()) - before, sum)
  })
}
