import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogTail } from './log-tail.ts'

test('lines are numbered as they come, the oldest are let go, and a reset begins anew', () => {
  const tail = new LogTail(3)
  let changes = 0
  const leave = tail.watch(() => void (changes += 1))
  const shown = (): readonly (readonly [number, string])[] => tail.lines.map(({ at, text }) => [at, text])

  tail.add({ lines: ['a', 'b'], reset: true })
  const before = tail.lines
  tail.add({ lines: ['c', 'd'], reset: false })
  assert.notEqual(tail.lines, before)
  assert.deepEqual(shown(), [
    [1, 'b'],
    [2, 'c'],
    [3, 'd'],
  ])
  assert.equal(tail.told, 4)

  tail.add({ lines: [], reset: true })
  assert.deepEqual(shown(), [])
  assert.deepEqual([tail.told, tail.resets, changes], [4, 2, 3])

  leave()
  tail.add({ lines: ['e', 'f', 'g', 'h'], reset: false })
  assert.deepEqual(shown(), [
    [5, 'f'],
    [6, 'g'],
    [7, 'h'],
  ])
  assert.equal(changes, 3)
})
