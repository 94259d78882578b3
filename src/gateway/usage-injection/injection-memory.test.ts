import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { InjectionMemory } from './injection-memory.ts'

const day = 24 * 3_600_000

test('what was learned is kept for a week, for each upstream on its own, and no more than 32 of them', async () => {
  await using folder = await makeTempDir()
  const path = join(folder.path, 'memory.json')
  const open = (upstream: string, nowMs: number): InjectionMemory =>
    new InjectionMemory(path, upstream, () => nowMs)
  for (let i = 0; i < 40; i++) {
    const memory = open(`http://u${i}`, i)
    memory.set('/a', 'refused')
    memory.set('/b', 'kept')
    memory.forget('/b')
    memory.keep()
    await memory.written
  }
  assert.equal(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object).length, 32)
  assert.equal(open('http://u7', day).get('/a'), undefined)
  assert.equal(open('http://u8', day).get('/a'), 'refused')
  assert.equal(open('http://u8', day).get('/b'), undefined)
  assert.equal(open('http://u8', 8 * day).get('/a'), undefined)
})

test('nothing is written that is there already, and junk is nothing', async () => {
  await using folder = await makeTempDir()
  const path = join(folder.path, 'memory.json')
  for (const junk of ['', '{"http://u":{"learnedAtMs":1,"paths":{"/a":"other"}}}', '[]', '{"http://u":1}']) {
    writeFileSync(path, junk)
    const memory = new InjectionMemory(path, 'http://u', () => day)
    assert.equal(memory.get('/a'), undefined)
    memory.set('/a', 'refused')
    memory.forget('/a')
    memory.keep()
    await memory.written
    assert.equal(readFileSync(path, 'utf8'), junk)
  }
  const nowhere = new InjectionMemory(join(folder.path, 'no', 'folder'), 'http://u', () => day)
  nowhere.set('/a', 'kept')
  nowhere.keep()
  await nowhere.written
  assert.equal(nowhere.get('/a'), 'kept')
})

test('what was learned is learned anew after a week in a running gateway, too', async () => {
  await using folder = await makeTempDir()
  let nowMs = day
  const memory = new InjectionMemory(join(folder.path, 'memory.json'), 'http://u', () => nowMs)
  memory.set('/a', 'refused')
  nowMs += 3 * day
  memory.set('/b', 'kept')
  assert.deepEqual([memory.get('/a'), memory.get('/b')], ['refused', 'kept'])
  nowMs += 4 * day
  assert.deepEqual([memory.get('/a'), memory.get('/b')], [undefined, undefined])
  memory.set('/a', 'unasked')
  assert.equal(memory.get('/a'), 'unasked')
})
