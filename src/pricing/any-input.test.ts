import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { litellmList } from '../../test/pricing/litellm-list.ts'
import { asked, sampleCosts, usageOf } from '../../test/pricing/sample-costs.ts'
import { applySync } from './apply-sync.ts'
import { fromLiteLlm } from './litellm-adapter.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { PriceBook } from './price-book.ts'
import { priceFileText } from './price-file.ts'
import { PriceListError } from './price-list.ts'
import { readModelCosts } from './read-model-costs.ts'
import { draws } from '../../test/support/draws.ts'

test('a price file with any characters changed is read, or told of by a place within it', () => {
  const text = priceFileText(sampleCosts)
  const change = fc.record({
    at: fc.nat(text.length - 1),
    gone: fc.nat(8),
    come: fc.oneof(fc.constantFrom('', '"', '{', '}', '[', ',', '-', '0', '1e9', 'null', '\n'), fc.string()),
  })
  let told = 0
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let spoiled = text
      for (const { at, gone, come } of changes) {
        spoiled = spoiled.slice(0, at) + come + spoiled.slice(at + gone)
      }
      const reading = readModelCosts(spoiled)
      if ('costs' in reading) return
      told += 1
      const { message, line, column } = reading.problem
      assert.ok(message.length > 0 && line !== null && column !== null, message)
      const words = spoiled.split('\n')[line - 1]
      assert.ok(
        words !== undefined && column >= 1 && column <= words.length + 1,
        `${line}:${column} ${message}`,
      )
    }),
    { numRuns: draws(1000) },
  )
  assert.ok(told > draws(300))
})

test('whatever an adapter takes from a spoiled list makes a sound file and a price for every key', () => {
  const list = litellmList(11, 5)
  const fields = Object.values(list).flatMap((entry) => Object.keys(entry))
  const odd = fc.oneof(
    fc.constantFrom(null, 0, -0, 1e-12, 1e-9, 1e-3, 2e-3, 1e300, '0.000001', '', true),
    fc.double(),
    fc.jsonValue(),
  )
  const spoil = fc.record({
    entry: fc.nat(Object.keys(list).length - 1),
    field: fc.constantFrom(...fields),
    odd,
  })
  fc.assert(
    fc.property(fc.array(spoil, { maxLength: 12, size: 'max' }), (spoils) => {
      const raw = structuredClone(list) as Record<string, Record<string, unknown>>
      for (const { entry, field, odd: value } of spoils) Object.values(raw)[entry]![field] = value
      const taken = fromLiteLlm(raw)
      assert.ok(taken !== null)
      let costs: ModelCosts
      try {
        costs = applySync(noPrices, taken, { name: 'litellm', url: null }, '2026-11-21T04:00:00Z').costs
      } catch (error) {
        if (error instanceof PriceListError) return
        throw error
      }
      const reading = readModelCosts(priceFileText(costs))
      assert.ok('costs' in reading, JSON.stringify(reading))
      const book = new PriceBook(reading.costs)
      for (const key of Object.keys(costs.models)) {
        const name = key.replace(/^(?:gemini|xai|deepseek|openrouter|azure|together_ai)\//, '')
        for (const host of ['api.openai.com', 'api.anthropic.com', 'api.x.ai', 'openrouter.ai']) {
          const usage = usageOf({ inputTokens: 300_000, outputTokens: 10, searchUnits: 1 })
          const cost = book.costOf({ ...asked(host, name), ...usage })
          assert.ok(cost === null || (Number.isSafeInteger(cost.costNanoUsd) && cost.costNanoUsd >= 0))
        }
      }
    }),
    { numRuns: draws(300) },
  )
})
