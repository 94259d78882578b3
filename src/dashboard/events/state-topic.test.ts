import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveCalls } from '../../api/live-calls.ts'
import type { ProcessStatus } from '../../api/process-status.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { ScriptedGateway, runningStatus } from '../../../test/dashboard/scripted-gateway.ts'
import { ScriptedReader } from '../../../test/dashboard/scripted-reader.ts'
import { stateTopic } from './state-topic.ts'

function setUp() {
  const gateway = new ScriptedGateway()
  const clock = new FakeClock()
  const faults: unknown[] = []
  const onFault = (error: unknown): number => faults.push(error)
  const topic = stateTopic('gateway', { clock, read: () => gateway.status(), onFault }, 'uptime_s')
  return { gateway, clock, faults, topic }
}

const withActive = (active: number): ProcessStatus => ({
  ...runningStatus,
  health: { ...runningStatus.health!, rate_limiter: { ...runningStatus.health!.rate_limiter, active } },
})

test('the status is told at once, and then when it has changed other than by time', async () => {
  const { gateway, clock, topic } = setUp()
  const reader = new ScriptedReader()
  topic.subscribe(reader)
  await clock.advance(0)
  assert.deepEqual(reader.told, [runningStatus])
  gateway.current = { ...runningStatus, uptime_s: 99, health: { ...runningStatus.health!, uptime_s: 99 } }
  await clock.advance(3000)
  assert.deepEqual(reader.told, [runningStatus])
  assert.equal(gateway.count('status'), 4)
  gateway.current = withActive(3)
  await clock.advance(1000)
  assert.deepEqual(reader.told, [runningStatus, withActive(3)])
})

test('one poll serves all readers, and nobody costs nothing', async () => {
  const { gateway, clock, topic } = setUp()
  await clock.advance(5000)
  topic.refresh()
  await clock.advance(5000)
  assert.equal(gateway.count('status'), 0)
  const readers = Array.from({ length: 10 }, () => new ScriptedReader())
  const ends = readers.map((reader) => topic.subscribe(reader))
  await clock.advance(2000)
  const polls = gateway.count('status')
  assert.ok(polls <= 4, `${polls} polls`)
  for (const reader of readers) assert.deepEqual(reader.told, [runningStatus])
  for (const end of ends) end()
  await clock.advance(5000)
  assert.equal(gateway.count('status'), polls)
  assert.equal(clock.pending(), 0)
})

test('a reader that comes late is told what is known', async () => {
  const { gateway, clock, topic } = setUp()
  topic.subscribe(new ScriptedReader())
  await clock.advance(0)
  const late = new ScriptedReader()
  topic.subscribe(late)
  assert.deepEqual(late.told, [runningStatus])
  assert.equal(gateway.count('status'), 1)
})

test('what was known is not told when nobody has listened since', async () => {
  const { gateway, clock, topic } = setUp()
  const end = topic.subscribe(new ScriptedReader())
  await clock.advance(0)
  end()
  gateway.current = withActive(3)
  const next = new ScriptedReader()
  topic.subscribe(next)
  await clock.advance(0)
  assert.deepEqual(next.told, [withActive(3)])
})

test('polls never overlap; what changed during one is seen right after it', async () => {
  const { gateway, clock, topic } = setUp()
  const gate = Promise.withResolvers<void>()
  gateway.statusGate = gate.promise
  const reader = new ScriptedReader()
  topic.subscribe(reader)
  for (let i = 0; i < 5; i += 1) topic.refresh()
  await clock.advance(5000)
  assert.equal(gateway.count('status'), 1)
  gate.resolve()
  await clock.advance(0)
  assert.deepEqual([gateway.count('status'), gateway.statusAtOnce], [2, 1])
})

test('a poll that fails is told of, and the next one comes', async () => {
  const { gateway, clock, faults, topic } = setUp()
  gateway.trouble = new Error('broken')
  const reader = new ScriptedReader()
  topic.subscribe(reader)
  await clock.advance(0)
  assert.deepEqual([faults.length, reader.told.length], [1, 0])
  await clock.advance(1000)
  assert.deepEqual(reader.told, [runningStatus])
})

test('a reader that is behind gets the newest when it has room, and holds up nobody', async () => {
  const { gateway, clock, topic } = setUp()
  const [slow, quick] = [new ScriptedReader(), new ScriptedReader()]
  topic.subscribe(slow)
  topic.subscribe(quick)
  await clock.advance(0)
  slow.isBehind = true
  for (const active of [5, 6, 7]) {
    gateway.current = withActive(active)
    await clock.advance(1000)
  }
  assert.equal(quick.told.length, 4)
  slow.catchUp()
  assert.deepEqual(slow.told, [runningStatus, withActive(7)])
  assert.equal(slow.waits, 1)
})

test('what nobody knows is not told, and what was told stands', async () => {
  const clock = new FakeClock()
  let state: LiveCalls | null = { calls: [], more: 0 }
  const read = (): Promise<LiveCalls | null> => Promise.resolve(state)
  const topic = stateTopic('live', { clock, read, onFault: (error) => assert.fail(String(error)) })
  const reader = new ScriptedReader()
  topic.subscribe(reader)
  await clock.advance(0)
  state = null
  await clock.advance(1000)
  state = { calls: [], more: 0 }
  await clock.advance(1000)
  assert.deepEqual(reader.told, [{ calls: [], more: 0 }])
})
