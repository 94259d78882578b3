import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompressResult, DatabaseJob } from '../../src/api/database-job.ts'
import {
  compressPoints,
  daysOf,
  estimateWords,
  growthWords,
  isWorthIt,
  outcomeWords,
  progressWords,
} from './compress-text.ts'

const result: CompressResult = {
  before_bytes: 900_000_000,
  after_bytes: 560_000_000,
  folded_calls: 1_200_000,
  duration_ms: 125_000,
}
const nothing = { ...result, folded_calls: 0, after_bytes: result.before_bytes }
const job: DatabaseJob = {
  job: 'compress',
  state: 'done',
  dry_run: false,
  keep_days: 90,
  started_at: '2026-11-21T00:00:00.000Z',
  progress: null,
  result,
  error: null,
}

test('days are whole numbers within the dashboard’s bounds', () => {
  assert.deepEqual(['1', ' 90 ', '36500'].map(daysOf), [1, 90, 36_500])
  for (const text of ['', '0', '36501', '-1', '1.5', 'all', '123456']) assert.equal(daysOf(text), null, text)
})

test('what would be done', () => {
  assert.equal(estimateWords(result), '1,200,000 calls would be rolled up, freeing about 340 MB.')
  assert.equal(estimateWords(nothing), 'Nothing to roll up: no calls are that old.')
  assert.equal(
    estimateWords({ ...result, folded_calls: 0 }),
    'No calls are that old, but compressing would free about 340 MB.',
  )
  assert.equal(
    estimateWords({ ...result, folded_calls: 1, after_bytes: 1e9 }),
    '1 call would be rolled up, freeing less than 1 MB.',
  )
  assert.deepEqual([isWorthIt(result), isWorthIt(nothing)], [true, false])
})

test('what is lost is told before it is', () => {
  const [loss = '', ...rest] = compressPoints(90, result)
  assert.match(loss, /^1,200,000 calls older than 90 days will be rolled up into hourly totals/)
  assert.match(rest.shift() ?? '', /^Deleted: .*calls.*sessions/)
  assert.deepEqual(rest, ['This cannot be undone.', 'The gateway keeps recording meanwhile.'])
  assert.equal(compressPoints(1, nothing).length, 1)
})

test('how far it is', () => {
  assert.deepEqual(progressWords(null), { words: 'Starting…', share: null })
  assert.deepEqual(progressWords({ phase: 'fold', done: 999, total: 1000 }), {
    words: 'Rolling up old calls, 99%',
    share: 0.999,
  })
  assert.deepEqual(progressWords({ phase: 'give_back', done: 0, total: 0 }), {
    words: 'Shrinking the file',
    share: null,
  })
})

test('how it ended', () => {
  assert.equal(outcomeWords(job), 'Rolled up 1,200,000 calls and freed 340 MB in 2 min 5 s.')
  assert.equal(outcomeWords({ ...job, result: { ...nothing, duration_ms: 20 } }), 'Nothing to roll up.')
  const error = { code: 'job_failed', message: 'The disk is full.' } as const
  assert.equal(outcomeWords({ ...job, state: 'failed', error }), 'The disk is full.')
  for (const other of [null, { ...job, dry_run: true }, { ...job, state: 'running' } as const]) {
    assert.equal(outcomeWords(other), null)
  }
})

test('how fast the file grows, and when the disk is full', () => {
  const nowMs = Date.UTC(2026, 10, 21)
  const size = { file: '/a', bytes: 1e9, disk_free_bytes: 1e9, growth_bytes_per_day: 25_000_000 }
  const words = (disk_full_at: string | null): string => growthWords({ ...size, disk_full_at }, nowMs)
  assert.equal(words(null), 'about 25 MB per day')
  assert.equal(words('2026-12-31T12:00:00.000Z'), 'about 25 MB per day; disk full in 40 days')
  assert.equal(words('2030-11-21T00:00:00.000Z'), 'about 25 MB per day; disk full in 4 years')
  assert.equal(growthWords({ ...size, growth_bytes_per_day: null, disk_full_at: null }, nowMs), '–')
})
