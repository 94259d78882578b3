import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { EventSnapshot } from './event-snapshot.ts'

const status = (pid: number): ProcessStatus => ({ pid }) as ProcessStatus

test('before anything has come there is nothing to tell', () => {
  assert.deepEqual(new EventSnapshot().events(), [])
})

test('a newcomer is told the last of each, and the log from its beginning', () => {
  const snapshot = new EventSnapshot()
  snapshot.take(['gateway', status(1)])
  snapshot.take(['log', { lines: ['old'], reset: true }])
  snapshot.take(['gateway', status(2)])
  snapshot.take(['jobs', { compress: null }])
  snapshot.take(['calls', { calls: [{ id: 'a', started_at: '' }], skipped: 0 }])
  snapshot.take(['beat', { every_ms: 15_000 }])
  snapshot.take(['log', { lines: ['a', 'b'], reset: true }])
  snapshot.take(['log', { lines: ['c'], reset: false }])
  assert.deepEqual(snapshot.events(), [
    ['gateway', status(2)],
    ['jobs', { compress: null }],
    ['log', { lines: ['a', 'b', 'c'], reset: true }],
  ])
})

test('of a long log only the end is kept', () => {
  const snapshot = new EventSnapshot()
  for (let at = 0; at < 2100; at += 1) snapshot.take(['log', { lines: [String(at)], reset: at === 0 }])
  const [log] = snapshot.events()
  assert.ok(log?.[0] === 'log')
  assert.deepEqual([log[1].lines.length, log[1].lines[0], log[1].lines.at(-1)], [2000, '100', '2099'])
})
