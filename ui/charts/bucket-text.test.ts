import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Times } from '../format/times.ts'
import { bucketSpan, bucketStart, spanWords } from './bucket-text.ts'
import type { TimeFrame } from './time-frame.ts'

const times = new Times(true, () => Date.UTC(2026, 10, 21))
const at = (text: string): number => Date.parse(`2026-11-${text}Z`)
const frame = (from: string, to: string, start: string, bucketMs: number): TimeFrame => ({
  fromMs: at(from),
  toMs: at(to),
  startsMs: [at(start)],
  bucketMs,
})

test('a quarter of an hour of one day', () => {
  const day = frame('20T12:31:00', '21T12:31:01', '20T12:30:00', 900_000)
  assert.equal(bucketStart(times, day, 0), '12:30')
  assert.equal(bucketSpan(times, day, 0), '12:30 – 12:45 UTC')
})

test('of a week', () => {
  const week = frame('14T12:00:00', '21T12:00:00', '14T12:00:00', 7_200_000)
  assert.equal(bucketStart(times, week, 0), '14 Nov, 12:00')
  assert.equal(bucketSpan(times, week, 0), '14 Nov, 12:00 – 14:00 UTC')
})

test('days, and seconds', () => {
  assert.equal(bucketSpan(times, frame('01T12:00:00', '21T12:00:00', '01T00:00:00', 86_400_000), 0), '1 Nov')
  const short = frame('20T12:31:00', '20T12:40:00', '20T12:31:00', 10_000)
  assert.equal(bucketSpan(times, short, 0), '12:31:00 – 12:31:10 UTC')
  assert.equal(spanWords(times, short, at('20T12:31:00'), at('20T12:32:00')), '12:31:00 – 12:32:00 UTC')
})
