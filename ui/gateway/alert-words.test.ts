import assert from 'node:assert/strict'
import { test } from 'node:test'
import { thresholdOf } from './alert-words.ts'

const read: readonly [text: string, threshold: number | null][] = [
  ['20', 20],
  [' 1 000 000 ', 1_000_000],
  ['1,000,000', 1_000_000],
  ['1,000.5', 1000.5],
  ['12,50', 12.5],
  ['0,5', 0.5],
  ['1,2,3', null],
  ['', null],
  ['-1', null],
]

for (const [text, threshold] of read) {
  test(`a threshold of ${JSON.stringify(text)} is ${threshold}`, () => {
    assert.equal(thresholdOf(text), threshold)
  })
}
