import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedLimits } from './simulated-limits.ts'
import { chatModels } from './simulated-models.ts'

test('a model with limits tells what is left of them, and they are full again after a minute', () => {
  const limits = new SimulatedLimits()
  const limited = chatModels.find((model) => model.limits !== undefined)!
  const { requests, tokens } = limited.limits!
  const first = limits.take(limited, 1000, 0)
  assert.equal(first['x-ratelimit-limit-requests'], String(requests))
  assert.equal(first['x-ratelimit-remaining-requests'], String(requests - 1))
  assert.equal(first['x-ratelimit-remaining-tokens'], String(tokens - 1000))
  assert.equal(first['x-ratelimit-reset-requests'], `${(60 / requests).toFixed(3)}s`)
  assert.equal(limits.take(limited, 0, 60_000)['x-ratelimit-remaining-tokens'], String(tokens))
  assert.equal(limits.take(limited, 10 * tokens, 60_000)['x-ratelimit-remaining-tokens'], '0')
  const unlimited = chatModels.find((model) => model.limits === undefined)!
  assert.deepEqual(limits.take(unlimited, 1000, 0), {})
})
