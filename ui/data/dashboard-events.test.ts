import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { KnownEvents } from './dashboard-events.ts'

const status = (pid: number): ProcessStatus => ({ pid }) as ProcessStatus

test('before anything has come there is nothing to tell', () => {
  assert.deepEqual(new KnownEvents().events(), [])
})

test('a newcomer is told the last of each, and the log from its beginning', () => {
  const known = new KnownEvents()
  known.take(['gateway', status(1)])
  known.take(['log', { lines: ['old'], reset: true }])
  known.take(['gateway', status(2)])
  known.take(['jobs', { compress: null }])
  known.take(['calls', { calls: [{ id: 'a', started_at: '' }], skipped: 0 }])
  known.take(['beat', { every_ms: 15_000 }])
  known.take(['log', { lines: ['a', 'b'], reset: true }])
  known.take(['log', { lines: ['c'], reset: false }])
  assert.deepEqual(known.events(), [
    ['gateway', status(2)],
    ['log', { lines: ['a', 'b', 'c'], reset: true }],
    ['jobs', { compress: null }],
  ])
})

test('of a long log only the end is kept', () => {
  const known = new KnownEvents()
  for (let at = 0; at < 2100; at += 1) known.take(['log', { lines: [String(at)], reset: at === 0 }])
  const [log] = known.events()
  assert.ok(log?.[0] === 'log')
  assert.deepEqual([log[1].lines.length, log[1].lines[0], log[1].lines.at(-1)], [2000, '100', '2099'])
})
