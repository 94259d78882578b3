import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { complaintsOf } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { bodyReply, sseEvent } from '../support/response-bytes.ts'

const { upstream, gateway } = await startGatewayOfFile({ args: ['--token-limit', '1000000'] })

const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

interface Told {
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly costUsd: number | null
}
const nothing: Told = { inputTokens: null, outputTokens: null, costUsd: null }
const tokensAlone: Told = { inputTokens: 10, outputTokens: 5, costUsd: null }

const implausible: readonly [what: string, usage: string, told: Told][] = [
  ['a cost of over 1,000 USD', JSON.stringify({ ...counts, cost: 1000.01 }), tokensAlone],
  ['a cost beyond all numbers', `{"prompt_tokens":10,"completion_tokens":5,"cost":1e400}`, tokensAlone],
  [
    'a cost that is a sum of two',
    JSON.stringify({
      ...counts,
      cost: 600,
      is_byok: true,
      cost_details: { upstream_inference_cost: 600 },
    }),
    tokensAlone,
  ],
  ['ticks of over 1,000 USD', JSON.stringify({ ...counts, cost_in_usd_ticks: 1.1e13 }), tokensAlone],
  ['input', JSON.stringify({ ...counts, prompt_tokens: 2e9 }), nothing],
  ['output', JSON.stringify({ ...counts, completion_tokens: 9e15 }), nothing],
  [
    'input read from a cache beside input and writes',
    JSON.stringify({
      input_tokens: 9e8,
      cache_read_input_tokens: 9e8,
      cache_creation_input_tokens: 9e8,
      output_tokens: 5,
    }),
    nothing,
  ],
]

function answerWith(usage: string, streamed: boolean): string {
  if (!streamed) return `{"choices":[{"message":{"content":"w"},"finish_reason":"stop"}],"usage":${usage}}`
  const event = { choices: [{ index: 0, delta: { content: 'w' }, finish_reason: 'stop' }] }
  return `${sseEvent(event)}data: {"choices":[],"usage":${usage}}\n\n${sseEvent('[DONE]')}`
}

async function call(usage: string, streamed: boolean, more: object = {}) {
  const sent = answerWith(usage, streamed)
  const type = streamed ? 'text/event-stream' : 'application/json'
  upstream.replyOnce(bodyReply([sent], { headers: [['Content-Type', type]] }))
  const asked = { model: 'm', stream: streamed, stream_options: { include_usage: true }, ...more }
  const body = JSON.stringify(asked)
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body })
  assert.deepEqual([answer.status, answer.complete, answer.body.toString()], [200, true, sent], 'as it came')
  return rowOf(gateway, answer)
}

for (const [what, usage, told] of implausible) {
  test(`${what}: passes as it came, is no figure of the row, and the row says so`, async () => {
    for (const streamed of [true, false]) {
      const row = await call(usage, streamed)
      const { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd } = row
      assert.deepEqual({ inputTokens, outputTokens, costUsd }, told)
      assert.deepEqual([row.outcome, row.failed, row.failure_code], ['ok', false, 'implausible_usage'])
    }
  })
}

test('the most that one call can have used counts as it is', async () => {
  const row = await call(JSON.stringify({ prompt_tokens: 10, completion_tokens: 5, cost: 1000 }), false)
  assert.deepEqual([row.cost_usd, row.failure_code], [1000, null])
  const large = await call(JSON.stringify({ prompt_tokens: 1e9, completion_tokens: 1e9 }), false)
  assert.deepEqual([large.input_tokens, large.output_tokens, large.failure_code], [1e9, 1e9, null])
})

test('a gap between a total and its parts is no more output than was asked for', async () => {
  const used = async (): Promise<number> =>
    Number(asRecord((await gateway.health())['token_budget'])['total_used'])
  const before = await used()
  const gap = JSON.stringify({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 1_000_000 })
  const asked = await call(gap, false, { max_tokens: 100 })
  const open = await call(gap, false)
  assert.deepEqual([asked.output_tokens, open.output_tokens], [100, 5])
  assert.equal((await used()) - before, 125)
  assert.equal(complaintsOf(gateway), '')
})
