import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventFlags } from './event-flags.ts'

const frame = { fromMs: 0, toMs: 1000, startsMs: [0, 500], bucketMs: 500 }
const mark = (ms: number, short: string) => ({ ms, short, words: `Gateway: ${short}` })
const flagsOf = (...marks: readonly ReturnType<typeof mark>[]) =>
  eventFlags(marks, frame, 500).map(({ words, leftPx }) => [words, Math.round(leftPx)])

test('each mark has its label, those that would overlap have one together', () => {
  assert.deepEqual(flagsOf(mark(600, 'stop'), mark(100, 'restart')), [
    ['restart', 50],
    ['stop', 300],
  ])
  assert.deepEqual(flagsOf(mark(100, 'restart'), mark(160, 'stop'), mark(700, 'start')), [
    ['2 events', 50],
    ['start', 350],
  ])
})

test('a label at the end stays within the plot, and takes in the one that it would cover', () => {
  assert.deepEqual(flagsOf(mark(990, 'restart')), [['restart', 447]])
  assert.deepEqual(flagsOf(mark(850, 'stop'), mark(990, 'limit 5→8')), [['2 events', 425]])
})

test('what lies outside of the plot has none', () => {
  assert.deepEqual(flagsOf(mark(1000, 'stop'), mark(-1, 'start')), [])
})
