import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noUsageWords } from './call-text.ts'

test('where no usage was reported the chunks that passed are told', () => {
  assert.equal(
    noUsageWords({ chunks: 58, finish_reason: null, failure_code: null }),
    '58 chunks, no usage reported',
  )
  assert.equal(
    noUsageWords({ chunks: 1, finish_reason: 'stop', failure_code: null }),
    '1 chunk, no usage reported',
  )
  for (const chunks of [null, 0])
    assert.equal(noUsageWords({ chunks, finish_reason: null, failure_code: null }), 'No usage reported')
  assert.match(
    noUsageWords({ chunks: null, finish_reason: 'queued', failure_code: null }),
    /^Counted with the call that fetched/,
  )
  const implausible = { chunks: 3, finish_reason: 'stop', failure_code: 'implausible_usage' }
  assert.match(noUsageWords(implausible), /impossible/)
})
