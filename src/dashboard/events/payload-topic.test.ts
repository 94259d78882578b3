import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedRawLog } from '../../../test/dashboard/scripted-gateway.ts'
import { ScriptedReader } from '../../../test/dashboard/scripted-reader.ts'
import { payloadTopic } from './payload-topic.ts'

const connected = { type: 'connected', enabled: true }
const disconnected = { type: 'disconnected' }
const started = {
  type: 'started',
  id: '0',
  timestamp: '2026-11-21T06:00:00.000Z',
  method: 'POST',
  path: '/v1/chat/completions',
}

test('the feed is there once for all readers, and not at all without one', () => {
  const rawLog = new ScriptedRawLog()
  const topic = payloadTopic(rawLog)
  assert.equal(rawLog.listeners, 0)
  const leave = topic.subscribe(new ScriptedReader())
  const leaveToo = topic.subscribe(new ScriptedReader())
  assert.equal(rawLog.listeners, 1)
  leave()
  assert.equal(rawLog.listeners, 1)
  leaveToo()
  assert.equal(rawLog.listeners, 0)
  topic.subscribe(new ScriptedReader())
  assert.equal(rawLog.listeners, 1)
})

test('everything is passed on, and who comes later is told how things stand', () => {
  const rawLog = new ScriptedRawLog()
  const topic = payloadTopic(rawLog)
  const early = new ScriptedReader()
  topic.subscribe(early)
  rawLog.tell(connected)
  rawLog.tell(started)
  rawLog.tell({ id: '0', seq: 5 }, '5')
  rawLog.tell({ type: 'dropped', count: 7 })
  rawLog.lose()
  const late = new ScriptedReader()
  const leave = topic.subscribe(late)
  rawLog.tell(connected)
  const record = { id: '0', seq: 5 }
  assert.deepEqual(early.told, [
    connected,
    started,
    record,
    { type: 'dropped', count: 7 },
    disconnected,
    connected,
  ])
  assert.deepEqual(late.told, [disconnected, connected])
  leave()
  rawLog.tell(started)
  assert.equal(late.told.length, 2)
})

test('how things stood is forgotten with the last reader', () => {
  const rawLog = new ScriptedRawLog()
  const topic = payloadTopic(rawLog)
  const leave = topic.subscribe(new ScriptedReader())
  rawLog.tell(connected)
  leave()
  const next = new ScriptedReader()
  topic.subscribe(next)
  assert.deepEqual(next.told, [])
})

test('a long record is cut', () => {
  const rawLog = new ScriptedRawLog()
  const reader = new ScriptedReader()
  payloadTopic(rawLog).subscribe(reader)
  rawLog.tell({ id: '0', body: 'x'.repeat(100_000), truncated: false }, '1')
  assert.deepEqual(reader.told, [{ id: '0', body: 'x'.repeat(65_536), truncated: true }])
})

test('a reader that is behind is told how many records it missed, and how things stand now', () => {
  const rawLog = new ScriptedRawLog()
  const topic = payloadTopic(rawLog)
  const [slow, quick] = [new ScriptedReader(), new ScriptedReader()]
  topic.subscribe(slow)
  topic.subscribe(quick)
  rawLog.tell(connected)
  slow.isBehind = true
  rawLog.tell(started)
  rawLog.tell({ seq: 1 }, '1')
  rawLog.tell({ seq: 2 }, '2')
  rawLog.tell({ type: 'dropped', count: 3 })
  rawLog.lose()
  assert.equal(slow.waits, 1)
  slow.catchUp()
  assert.deepEqual(slow.told, [connected, disconnected, { type: 'dropped', count: 5 }])
  assert.equal(quick.told.length, 6)
  rawLog.tell(started)
  assert.deepEqual(slow.told.at(-1), started)
})

test('a reader that has missed no record is not told of any', () => {
  const rawLog = new ScriptedRawLog()
  const slow = new ScriptedReader()
  payloadTopic(rawLog).subscribe(slow)
  rawLog.tell(connected)
  slow.isBehind = true
  rawLog.tell(started)
  slow.catchUp()
  assert.deepEqual(slow.told, [connected, connected])
})

test('a reader that stays behind loses no count', () => {
  const rawLog = new ScriptedRawLog()
  const slow = new ScriptedReader()
  payloadTopic(rawLog).subscribe(slow)
  rawLog.tell(connected)
  slow.isBehind = true
  rawLog.tell({ seq: 1 }, '1')
  // Room for a moment, and none again before it could be told.
  const stayBehind = slow.send.bind(slow)
  slow.send = () => false
  slow.catchUp()
  slow.send = stayBehind
  rawLog.tell({ seq: 2 }, '2')
  slow.catchUp()
  assert.deepEqual(slow.told.at(-1), { type: 'dropped', count: 2 })
})
