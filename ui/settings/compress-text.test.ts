import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompressResult } from '../../src/api/database-job.ts'
import { compressPoints, daysOf, growthWords } from './compress-text.ts'

const result: CompressResult = {
  before_bytes: 900_000_000,
  after_bytes: 560_000_000,
  folded_calls: 1_200_000,
  duration_ms: 125_000,
}
const nothing = { ...result, folded_calls: 0, after_bytes: result.before_bytes }

test('days are whole numbers within the dashboard’s bounds', () => {
  assert.deepEqual(['1', ' 90 ', '36500'].map(daysOf), [1, 90, 36_500])
  for (const text of ['', '0', '36501', '-1', '1.5', 'all', '123456']) assert.equal(daysOf(text), null, text)
})

test('what is lost is told before it is', () => {
  const [loss = '', ...rest] = compressPoints(90, result)
  assert.match(loss, /^1,200,000 calls older than 90 days will be rolled up into hourly totals/)
  assert.match(rest.shift() ?? '', /^Deleted: .*calls.*sessions/)
  assert.deepEqual(rest, ['This cannot be undone.', 'The gateway keeps recording meanwhile.'])
  assert.equal(compressPoints(1, nothing).length, 1)
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
