import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runsOf } from './value-runs.ts'

test('pieces between gaps', () => {
  assert.deepEqual(runsOf([null, 1, 2, null, null, 3, null]), [[1, 2], [3]])
  assert.deepEqual(runsOf([1, 2]), [[1, 2]])
  assert.deepEqual(runsOf([null]), [])
  assert.deepEqual(runsOf([]), [])
})
