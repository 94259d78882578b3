import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReuseRules } from './reuse-rules.ts'

const streamed = true
const sized = false

function outlast(rules: ReuseRules, times: number): void {
  for (let i = 0; i < times; i++) rules.outlasted(streamed)
}

test('after a stream connections rest until three outlasted it, after an answer of known length they do not', () => {
  const rules = new ReuseRules()
  assert.deepEqual([rules.restMs(streamed), rules.restMs(sized)], [100, 0])
  outlast(rules, 2)
  assert.equal(rules.restMs(streamed), 100)
  outlast(rules, 1)
  assert.equal(rules.restMs(streamed), 0)
})

test('an early close brings the rest back, three times as long as it took, and each time it takes more proof', () => {
  const rules = new ReuseRules()
  for (const [idledMs, restMs, proof] of [
    [2, 100, 3],
    [42, 126, 12],
    [400, 1000, 48],
    [1, 100, 192],
    [1, 100, 768],
    [1, 100, 768],
  ] as const) {
    rules.closed(streamed, idledMs)
    assert.equal(rules.restMs(streamed), restMs)
    outlast(rules, proof - 1)
    assert.equal(rules.restMs(streamed), restMs)
    outlast(rules, 1)
    assert.equal(rules.restMs(streamed), 0)
  }
  assert.equal(rules.restMs(sized), 0)
})

test('closes while connections rest ask for the same proof anew', () => {
  const rules = new ReuseRules()
  for (let i = 0; i < 50; i++) rules.closed(streamed, 1)
  outlast(rules, 2)
  rules.closed(streamed, 1)
  outlast(rules, 2)
  assert.equal(rules.restMs(streamed), 100)
  outlast(rules, 1)
  assert.equal(rules.restMs(streamed), 0)
})

test('a rest that was too short grows, and never shrinks before it was outlasted', () => {
  const rules = new ReuseRules()
  rules.closed(sized, 90)
  rules.closed(sized, 1)
  assert.equal(rules.restMs(sized), 270)
})

test('what died after idling is not given so long again, and what was learned doubles in an hour', () => {
  const rules = new ReuseRules()
  assert.equal(rules.idleLimitMs(0), Number.POSITIVE_INFINITY)
  rules.died(sized, 2000, 1000)
  assert.equal(rules.idleLimitMs(1000), 1600)
  rules.died(sized, 1000, 2000)
  assert.equal(rules.idleLimitMs(2000), 800)
  assert.equal(rules.idleLimitMs(2000 + 3_600_000), 1600)
  assert.equal(rules.restMs(sized), 0)
})

test('a connection that is closed while it idles teaches nothing, but for soon after an answer', () => {
  const rules = new ReuseRules()
  rules.closed(sized, 1000)
  assert.deepEqual([rules.restMs(sized), rules.idleLimitMs(0)], [0, Number.POSITIVE_INFINITY])
  rules.died(sized, 10, 0)
  assert.deepEqual([rules.restMs(sized), rules.idleLimitMs(0)], [100, Number.POSITIVE_INFINITY])
})
