import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyStep, levelAt } from './plot-keys.ts'

const from = { index: 5, level: null }
const led = (key: string, levels: number = 0, cell: Parameters<typeof keyStep>[1] = from): unknown =>
  keyStep(key, cell, 20, levels)

test('arrows, pages, Home and End move from bucket to bucket, and stop at the edges', () => {
  assert.deepEqual(led('ArrowLeft'), { index: 4, level: null })
  assert.deepEqual(led('ArrowRight'), { index: 6, level: null })
  assert.deepEqual(led('PageUp'), { index: 15, level: null })
  assert.deepEqual(led('PageDown'), { index: 0, level: null })
  assert.deepEqual(led('Home'), { index: 0, level: null })
  assert.deepEqual(led('End'), { index: 20, level: null })
  assert.equal(led('a'), null)
})

test('up and down move among rows where there are some', () => {
  assert.deepEqual(led('ArrowUp'), { index: 6, level: null })
  assert.deepEqual(led('ArrowUp', 4), { index: 5, level: 0 })
  assert.deepEqual(led('ArrowDown', 4), { index: 5, level: 3 })
  assert.deepEqual(led('ArrowUp', 4, { index: 5, level: 3 }), { index: 5, level: 3 })
  assert.deepEqual(led('ArrowLeft', 4, { index: 5, level: 3 }), { index: 4, level: 3 })
})

test('the row at a height', () => {
  assert.equal([0, 0.49, 0.51, 1].map((share) => levelAt(share, 2)).join(' '), '1 1 0 0')
  assert.equal(levelAt(0.3, 0), null)
})
