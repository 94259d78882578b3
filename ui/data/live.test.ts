import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { eventsSoFar } from './live.ts'
import { emptyLog, withLines } from './log-tail.ts'

const status = { pid: 2 } as ProcessStatus

test('before anything has come a newcomer is told that there is nothing', () => {
  assert.deepEqual(eventsSoFar({ status: null, job: null, repricing: null, alerts: [] }, emptyLog), [
    ['jobs', { compress: null, reprice: null }],
    ['log', { lines: [], reset: true }],
    ['alerts', []],
  ])
})

test('a newcomer is told the last of each, and the log from its beginning', () => {
  let log = withLines(emptyLog, { lines: ['old'], reset: true })
  log = withLines(log, { lines: ['a', 'b'], reset: true })
  log = withLines(log, { lines: ['c'], reset: false })
  assert.deepEqual(eventsSoFar({ status, job: null, repricing: null, alerts: [] }, log), [
    ['gateway', status],
    ['jobs', { compress: null, reprice: null }],
    ['log', { lines: ['a', 'b', 'c'], reset: true }],
    ['alerts', []],
  ])
})

test('of a long log a newcomer is told the end', () => {
  let log = emptyLog
  for (let at = 0; at < 2100; at += 1) log = withLines(log, { lines: [String(at)], reset: at === 0 })
  const [, [, told] = []] = eventsSoFar({ status: null, job: null, repricing: null, alerts: [] }, log)
  assert.ok(told !== undefined && 'lines' in told)
  assert.deepEqual([told.lines.length, told.lines[0], told.lines.at(-1)], [2000, '100', '2099'])
})
