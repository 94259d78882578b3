import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { entry, override, writePrices } from '../../test/support/price-list.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { PricesInForce } from './prices-in-force.ts'

test('the file counts as soon as it is another, over what came with the program until it is synced', async () => {
  await using dir = await makeTempDir()
  const [path, shipped] = [dir.file('model_costs.json'), dir.file('shipped.json')]
  writePrices(shipped, { models: { shipped: entry('openai', { input: 1, output: 1 }) } })
  const prices = new PricesInForce(path, shipped)
  const keys = (): readonly string[] => Object.keys({ ...prices.costs.models, ...prices.costs.overrides })
  assert.deepEqual([prices.reloadIfChanged(), keys()], [true, ['shipped']])
  assert.equal(prices.reloadIfChanged(), false)
  writePrices(path, { models: {}, overrides: { own: override(1, 1) } })
  assert.deepEqual(
    [prices.reloadIfChanged(), keys(), prices.reloadIfChanged()],
    [true, ['shipped', 'own'], false],
  )
  // As the file of an older proxy has them.
  writeFileSync(path, '{"old": [{"input_cost_per_million": 1, "output_cost_per_million": 2}]}')
  assert.deepEqual([prices.reloadIfChanged(), keys()], [true, ['shipped', 'old']])
  writePrices(path, { synced_at: '2026-11-21T04:00:00Z', models: {}, overrides: { own: override(1, 1) } })
  assert.deepEqual([prices.reloadIfChanged(), keys()], [true, ['own']], 'a sync brings a list of its own')
  rmSync(path)
  assert.deepEqual([prices.reloadIfChanged(), keys()], [true, ['own']])
  assert.match(prices.problem?.message ?? '', /The file was deleted; the next start will not use it/)
  const next = new PricesInForce(path, shipped)
  assert.deepEqual(
    [next.reloadIfChanged(), Object.keys(next.costs.models), next.problem],
    [true, ['shipped'], null],
  )
})

test('what cannot be read leaves in force what was, and says where it is wrong', async () => {
  await using dir = await makeTempDir()
  const [path, shipped] = [dir.file('model_costs.json'), dir.file('shipped.json')]
  writePrices(shipped, { models: { shipped: entry('openai', { input: 1, output: 1 }) } })
  writeFileSync(path, '{\n  oops\n}')
  // Of a file that was wrong from the start there is no last good one.
  const prices = new PricesInForce(path, shipped)
  prices.reloadIfChanged()
  assert.deepEqual([Object.keys(prices.costs.models), prices.problem?.line], [['shipped'], 2])
  writePrices(path, { models: {}, overrides: { own: override(1, 1) } })
  prices.reloadIfChanged()
  assert.equal(prices.problem, null)
  writeFileSync(path, '')
  assert.equal(prices.reloadIfChanged(), true)
  assert.deepEqual(Object.keys(prices.costs.overrides), ['own'])
  assert.ok(prices.problem !== null)
})

test('who first looks when the file is broken has the last prices that anybody could read', async () => {
  await using dir = await makeTempDir()
  const [path, shipped] = [dir.file('model_costs.json'), dir.file('shipped.json')]
  writePrices(shipped, { models: { shipped: entry('openai', { input: 1, output: 1 }) } })
  writePrices(path, { models: {}, overrides: { own: override(1, 1) } })
  const [early, first] = [new PricesInForce(path, shipped), new PricesInForce(path, shipped)]
  early.reloadIfChanged()
  first.reloadIfChanged()
  writePrices(path, { models: {}, overrides: { own: override(2, 2) } })
  first.reloadIfChanged()
  writeFileSync(path, '{\n  oops\n}')
  const inputs = [first, early, new PricesInForce(path, shipped)].map((prices) => {
    prices.reloadIfChanged()
    assert.equal(prices.problem?.line, 2)
    assert.deepEqual(Object.keys(prices.costs.models), ['shipped'])
    return prices.costs.overrides['own']?.prices[0]?.tiers[0]?.input
  })
  assert.deepEqual(inputs, [2, 2, 2])
})

test('prices that came with the program are not kept a second time', async () => {
  await using dir = await makeTempDir()
  const [path, shipped] = [dir.file('model_costs.json'), dir.file('shipped.json')]
  const good = dir.file('model_costs.json.good')
  const prices = new PricesInForce(path, shipped)
  writePrices(shipped)
  writePrices(path)
  prices.reloadIfChanged()
  assert.equal(existsSync(good), false)
  writePrices(path, { overrides: { own: override(1, 1) } })
  prices.reloadIfChanged()
  assert.equal(existsSync(good), true)
  writePrices(path)
  prices.reloadIfChanged()
  assert.equal(existsSync(good), false)
})

test('without any prices nothing has one', () => {
  const prices = new PricesInForce('/nowhere/model_costs.json', '/nowhere/shipped.json')
  prices.reloadIfChanged()
  assert.deepEqual([prices.costs.models, prices.problem], [{}, null])
})
