import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typedLimit, typedNumber, typedWhole } from './typed-number.ts'

test('a whole number may have separators, and nothing else', () => {
  const read = ['7', '1 000', '480\u202f000\u202f000', "1'000", '1,000,000', '1,000', '0'].map(typedWhole)
  assert.deepEqual(read, [7, 1000, 480_000_000, 1000, 1_000_000, 1000, 0])
  for (const text of ['', '-1', '1.5', '4,5', '1,2,3', '0,123', 'many', '1e6']) {
    assert.equal(typedWhole(text), null, text)
  }
})

test('a number may have a point, and commas between thousands alone', () => {
  const read = ['20', ' 1 000 000 ', '1,000,000', '1,500', '1,000.5', '.6', '3.'].map(typedNumber)
  assert.deepEqual(read, [20, 1_000_000, 1_000_000, 1500, 1000.5, 0.6, 3])
  for (const text of ['', '-1', '1,2,3', '1.2.3', '4,5', '12,50', '0,125', '1e3', 'NaN']) {
    assert.equal(typedNumber(text), null, text)
  }
})

test('a limit is a whole number from 1 on, or empty for none', () => {
  assert.deepEqual(['', ' ', '7', '1 000'].map(typedLimit), [null, null, 7, 1000])
  assert.deepEqual(['0', '4,5', 'many'].map(typedLimit), ['wrong', 'wrong', 'wrong'])
})
