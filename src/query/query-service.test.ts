import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeDatabase } from '../../test/dashboard/query-database.ts'
import { assertEmpty } from '../../test/store/any-store.ts'
import { chatCall } from '../../test/store/sample-call.ts'
import { override, writePrices } from '../../test/support/price-list.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import type { SingleCall } from '../api/single-call.ts'
import { emptyStore, QueryService } from './query-service.ts'

test('without a database every answer is that of an empty one', () => assertEmpty(emptyStore))

test('the parts of a cost are those of the prices there are, also if nothing was asked before', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writePrices(dir.file('model_costs.json'), { overrides: { m: override(1, 2) } })
  const usage = { inputTokens: 1000, cachedInputTokens: null, outputTokens: 10, reasoningTokens: null }
  const call = { ...chatCall(), ...usage, model: 'm', responseModel: null, serviceTier: null }
  const cost = { costNanoUsd: 1_020_000, priceSource: 'user', priceKey: 'm' } as const
  writeDatabase(path, { calls: [{ ...call, ...cost }] })
  const service = new QueryService(path, () => 0)
  const question = { kind: 'call', id: call.id } as const
  const reply = await service.answer({ question, nowMs: Date.now(), budgetMs: 1000 })
  service.close()
  assert.ok(reply.kind === 'answer', JSON.stringify(reply))
  const { cost_parts: parts } = JSON.parse(Buffer.from(reply.body).toString()) as SingleCall
  assert.deepEqual(
    parts?.map(({ rate, count, usd }) => [rate, count, usd]),
    [
      ['input', 1000, 0.001],
      ['output', 10, 0.00002],
    ],
  )
})
