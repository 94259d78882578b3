import assert from 'node:assert/strict'
import { test } from 'node:test'
import { told } from './few-calls.ts'

const measure = (n: number): Parameters<typeof told>[0] => ({ n, p50: 100, p95: 300, p99: 900, max: 1000 })

test('enough calls have a p95', () => {
  assert.deepEqual(told(measure(20), []), { kind: 'p95', p95: 300, p50: 100 })
})

test('few calls say what they have', () => {
  assert.deepEqual(told(measure(3), [90, 1000, 100]), { kind: 'span', n: 3, least: 90, most: 1000 })
  assert.deepEqual(told(measure(19), [90]), { kind: 'median', n: 19, p50: 100, most: 1000 })
  assert.deepEqual(told(measure(4), []), { kind: 'most', n: 4, most: 1000 })
})

test('no calls say nothing', () => {
  assert.deepEqual(told({ n: 0, p50: null, p95: null, p99: null, max: null }, []), { kind: 'none' })
})
