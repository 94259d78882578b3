import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedLog } from '../../../test/dashboard/scripted-gateway.ts'
import { ScriptedReader } from '../../../test/dashboard/scripted-reader.ts'
import { logTopic } from './log-topic.ts'

async function setUp(...lines: readonly string[]) {
  const log = new ScriptedLog()
  log.lines = [...lines]
  const topic = logTopic(log)
  const reader = new ScriptedReader()
  const end = topic.subscribe(reader)
  await Promise.resolve()
  return { log, topic, reader, end }
}

test('the last lines come first, and then each new one', async () => {
  const many = Array.from({ length: 180 }, (_, i) => `line ${i}`)
  const { log, reader } = await setUp(...many)
  log.append('a', 'b')
  assert.deepEqual(reader.told, [
    { lines: many.slice(30), reset: true },
    { lines: ['a', 'b'], reset: false },
  ])
})

test('a log that was cleared begins anew', async () => {
  const { log, reader } = await setUp('a')
  await log.clear()
  log.append('b')
  assert.deepEqual(reader.told.slice(1), [
    { lines: [], reset: true },
    { lines: ['b'], reset: false },
  ])
})

test('one watch serves all readers, and nobody costs nothing', async () => {
  const { log, topic, reader, end } = await setUp('a')
  log.append('b')
  const late = new ScriptedReader()
  const endLate = topic.subscribe(late)
  assert.equal(log.watchers, 1)
  assert.deepEqual(late.told, [{ lines: ['a', 'b'], reset: true }])
  end()
  log.append('c')
  assert.deepEqual([reader.told.length, late.told.length], [2, 2])
  endLate()
  assert.equal(log.watchers, 0)
})

test('a reader that is behind loses lines and begins anew, and holds up nobody', async () => {
  const { log, topic, reader: slow } = await setUp('a')
  const quick = new ScriptedReader()
  topic.subscribe(quick)
  slow.isBehind = true
  log.append('b')
  log.append('c')
  slow.catchUp()
  log.append('d')
  assert.deepEqual(slow.told.slice(1), [
    { lines: ['a', 'b', 'c'], reset: true },
    { lines: ['d'], reset: false },
  ])
  assert.equal(slow.waits, 1)
  assert.equal(quick.told.length, 4)
})

test('a reader that is behind when the log is cleared sees nothing of what was', async () => {
  const { log, reader } = await setUp('a')
  reader.isBehind = true
  log.append('b')
  await log.clear()
  reader.catchUp()
  assert.deepEqual(reader.told.slice(1), [{ lines: [], reset: true }])
})

test('nothing comes after the end', async () => {
  const { log, reader, end } = await setUp('a')
  reader.isBehind = true
  log.append('b')
  end()
  reader.catchUp()
  assert.equal(reader.told.length, 1)
})

test('of very long lines fewer are kept', async () => {
  const long = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(8000, 'x'))
  const { reader } = await setUp(...long)
  assert.deepEqual(reader.told, [{ lines: long.slice(-16), reset: true }])
})
