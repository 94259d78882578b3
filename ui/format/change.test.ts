import assert from 'node:assert/strict'
import { test } from 'node:test'
import { percent } from '../format/figures.ts'
import { type Compared, changeOf } from './change.ts'

const compared = (
  now: number | null,
  before: number | null,
  rest: Partial<Compared> = {},
): ReturnType<typeof changeOf> =>
  changeOf({ now, before, nNow: 500, nBefore: 500, better: 'lower', show: (value) => `${value} s`, ...rest })

test('a change says what was before', () => {
  assert.deepEqual(compared(11.6, 10), { words: '+16%', was: '10 s', tone: 'worse' })
  assert.deepEqual(compared(5, 10), { words: '−50%', was: '10 s', tone: 'better' })
  assert.equal(compared(5, 10, { better: 'higher' })?.tone, 'worse')
})

test('small changes, few calls, and figures that are neither good nor bad have no colour', () => {
  assert.equal(compared(10.9, 10)?.tone, 'plain')
  assert.equal(compared(11, 10)?.tone, 'worse')
  assert.equal(compared(20, 10, { nNow: 49 })?.tone, 'plain')
  assert.equal(compared(20, 10, { nBefore: 49 })?.tone, 'plain')
  assert.equal(compared(20, 10, { better: null })?.tone, 'plain')
})

test('nothing to compare with is no change', () => {
  assert.equal(compared(null, 10), null)
  assert.equal(compared(10, null), null)
  assert.equal(compared(10, 10, { nBefore: 0 }), null)
})

test('from nothing, to the same, and many times as much', () => {
  assert.equal(compared(3, 0)?.words, 'new')
  assert.equal(compared(0, 0)?.words, '±0')
  assert.equal(compared(10.01, 10)?.words, '±0%')
  assert.equal(compared(190, 10)?.words, '×19')
  assert.deepEqual(compared(6710, 1), { words: '', was: '1 s', tone: 'plain' })
})

test('a rate moves by points, and not where both read the same', () => {
  const rate = (now: number, before: number): ReturnType<typeof changeOf> =>
    compared(now, before, { isShare: true, show: percent })
  assert.deepEqual(rate(0.0152, 0.013), { words: '+0.22 pts', was: '1.3%', tone: 'worse' })
  assert.deepEqual(rate(0.0133, 0.0131), { words: '±0', was: '1.3%', tone: 'plain' })
  assert.deepEqual(rate(0.4, 0.013), { words: '+39 pts', was: '1.3%', tone: 'worse' })
  assert.deepEqual(rate(0.02, 0), { words: '+2 pts', was: '0%', tone: 'worse' })
  assert.deepEqual(rate(0.5, 1), { words: '−50 pts', was: '100%', tone: 'better' })
})
