import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogLines } from '../../src/api/dashboard-event.ts'
import { emptyLog, withLines } from './log-tail.ts'

test('lines are numbered as they come, the oldest are let go, and a reset begins anew', () => {
  let tail = emptyLog
  const add = (lines: LogLines): void => void (tail = withLines(tail, lines, 3))
  const shown = (): readonly (readonly [number, string])[] => tail.lines.map(({ at, text }) => [at, text])

  add({ lines: ['a', 'b'], reset: true })
  const before = tail.lines
  add({ lines: ['c', 'd'], reset: false })
  assert.notEqual(tail.lines, before)
  assert.deepEqual(shown(), [
    [1, 'b'],
    [2, 'c'],
    [3, 'd'],
  ])
  assert.equal(tail.total, 4)

  add({ lines: [], reset: true })
  assert.deepEqual(shown(), [])
  assert.deepEqual([tail.total, tail.resets], [4, 2])

  add({ lines: ['e', 'f', 'g', 'h'], reset: false })
  assert.deepEqual(shown(), [
    [5, 'f'],
    [6, 'g'],
    [7, 'h'],
  ])
})
