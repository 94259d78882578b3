import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { sampleCosts } from '../../test/pricing/sample-costs.ts'
import { lockPriceFile, priceFileOf, readPriceFile, shippedPriceFile, writePriceFile } from './price-file.ts'
import { readModelCosts } from './read-model-costs.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tokenweir-prices-'))
  path = join(folder, 'model_costs.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('stands beside the database', () => {
  assert.equal(priceFileOf('data/llm_telemetry.db'), join('data', 'model_costs.json'))
})

test('what is written is read, one entry to a line, by its owner alone', () => {
  writePriceFile(path, sampleCosts)
  const reading = readPriceFile(path)
  assert.ok('costs' in reading && reading.costs !== null)
  assert.deepEqual(reading.costs, sampleCosts)
  const lines = readFileSync(path, 'utf8').split('\n')
  assert.equal(
    lines.filter((line) => line.startsWith('    "')).length,
    Object.keys(sampleCosts.models).length,
  )
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['model_costs.json'])
})

test('what came with the program is read without a check, as the check would read it', () => {
  const text = readFileSync(shippedPriceFile(), 'utf8')
  assert.deepEqual(readPriceFile(shippedPriceFile()), readModelCosts(text))
})

test('nothing, a folder and a broken file are told apart', () => {
  assert.deepEqual(readPriceFile(path), { costs: null })
  mkdirSync(path)
  const folderReading = readPriceFile(path)
  assert.ok(typeof folderReading === 'object' && 'problem' in folderReading)
  assert.match(folderReading.problem.message, /it is a directory, not a regular file/)
  rmSync(path, { recursive: true })
  writeFileSync(path, '{"version": 1,\n "models": {')
  assert.deepEqual(readPriceFile(path), {
    problem: { message: 'It is not JSON: it ends too early.', line: 2, column: 13 },
  })
})

test('a failed write leaves the old file, and nothing else', () => {
  writePriceFile(path, sampleCosts)
  const before = readFileSync(path)
  const endless = {
    ...sampleCosts,
    get synced_at(): string {
      throw new Error('the disk is full')
    },
  }
  assert.throws(() => writePriceFile(path, endless), /disk is full/)
  assert.deepEqual(readFileSync(path), before)
  assert.deepEqual(readdirSync(folder), ['model_costs.json'])
})

test('one at a time changes the file', { skip: process.platform !== 'linux' }, async () => {
  const first = await lockPriceFile(path, 1000)
  assert.ok(first !== null)
  assert.equal(await lockPriceFile(path, 30), null)
  const waiting = lockPriceFile(path, 5000)
  first[Symbol.dispose]()
  const second = await waiting
  assert.ok(second !== null)
  second[Symbol.dispose]()
})
