import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureKinds } from '../../src/call/failure.ts'
import { endWords, failureCodeWords, failureSentence, failureWords } from './failure-text.ts'

test('every failure code has words of its own', () => {
  assert.deepEqual(Object.keys(failureWords), Object.keys(failureKinds))
  const shorts = Object.values(failureWords).map(([short]) => short)
  assert.equal(new Set(shorts).size, shorts.length)
  for (const [short, sentence] of Object.values(failureWords)) {
    assert.match(short, /^[A-Z][\w -]{3,16}$/)
    assert.match(sentence, /^[A-Z].{20,100}\.$/)
  }
})

test('a call is told by its failure code, else by its outcome', () => {
  assert.equal(endWords({ outcome: 'ok', failure_code: null, status: 200 }), 'Succeeded')
  assert.equal(endWords({ outcome: 'refused', failure_code: 'queue_full', status: 503 }), 'Queue full')
  assert.equal(endWords({ outcome: 'interrupted', failure_code: null, status: null }), 'Interrupted')
  assert.equal(endWords({ outcome: 'new', failure_code: 'unheard_of', status: null }), 'new')
  assert.equal(failureCodeWords('unheard_of'), 'unheard_of')
})

test('a call that succeeds with figures that cannot be right says both', () => {
  const call = { outcome: 'ok', failure_code: 'implausible_usage', status: 200 }
  assert.equal(endWords(call), 'Succeeded')
  assert.match(failureSentence(call) ?? '', /number of tokens/)
})

test('what went wrong is a sentence, and of an upstream error it names the status', () => {
  assert.equal(failureSentence({ outcome: 'ok', failure_code: null, status: 200 }), null)
  assert.equal(
    failureSentence({ outcome: 'upstream_error', failure_code: 'upstream_http', status: 429 }),
    'The upstream returned status 429.',
  )
  assert.match(failureSentence({ outcome: 'interrupted', failure_code: null, status: null }) ?? '', /unknown/)
})
