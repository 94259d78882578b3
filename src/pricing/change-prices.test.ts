import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { override, writePrices } from '../../test/support/price-list.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { changePrices, PriceFileError } from './change-prices.ts'
import { lockPriceFile, readPriceFile } from './price-file.ts'
import type { ModelCosts } from './model-costs.ts'

function ownPrice(costs: ModelCosts): readonly [ModelCosts, string] {
  return [{ ...costs, overrides: { ...costs.overrides, own: override(1, 1) } }, 'set']
}

test('the lock is held while the prices are changed, and no longer; who waits for it gets it', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('data/model_costs.json')
  let whileChanged: Promise<Disposable | null> | undefined
  const answer = await changePrices(path, (costs) => {
    whileChanged = lockPriceFile(path, 0)
    return ownPrice(costs)
  })
  assert.deepEqual([answer, await whileChanged], ['set', null])
  const reading = readPriceFile(path)
  assert.ok('costs' in reading && reading.costs !== null)
  assert.deepEqual(Object.keys(reading.costs.overrides), ['own'])
  const lock = await lockPriceFile(path, 0)
  assert.ok(lock !== null)
  const error = new PriceFileError('prices_busy', `${path} is being changed by another process.`)
  await assert.rejects(changePrices(path, ownPrice, 30), error)
  const waiting = changePrices(path, ownPrice)
  lock[Symbol.dispose]()
  assert.equal(await waiting, 'set')
})

test('nothing is written over a broken file, nor where there is nothing to change', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  assert.equal(await changePrices(path, () => [null, 7]), 7)
  assert.deepEqual(readdirSync(dir.path), ['model_costs.json.lock'])
  writeFileSync(path, '{\n oops')
  await assert.rejects(changePrices(path, ownPrice), (error) => {
    assert.ok(error instanceof PriceFileError)
    assert.equal(error.code, 'broken_price_file')
    assert.match(error.message, /, line 2, column 2 must be fixed first: /)
    return true
  })
})

test('what cannot be written is told, and the lock is free afterwards', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  writePrices(path)
  // In the way of the file that is to take the place of the old one; it holds against root, too.
  mkdirSync(`${path}.${process.pid}.new`)
  await assert.rejects(changePrices(path, ownPrice), (error) => {
    assert.ok(error instanceof PriceFileError)
    assert.equal(error.code, 'prices_not_kept')
    assert.ok(error.message.startsWith(`${path} cannot be written: `), error.message)
    return true
  })
  assert.equal(await changePrices(path, () => [null, 'free'], 0), 'free')
})
