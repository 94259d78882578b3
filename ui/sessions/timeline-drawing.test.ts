import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { axisMarks, gapsBetween, linePath } from './timeline-drawing.ts'

const placeOf = (ms: number): number => ms / 1000
const oneDay = (): string => '21 Nov'

test('times and signs have room, and stand where they stood when what is looked at moves', () => {
  const call = {
    failed: true,
    outcome: 'upstream_error',
    failure_code: 'upstream_http',
    status: 529,
  } as CallJson
  const prefixBreak = { before: 9000, now: 0, afterMs: 1500 }
  const pieces = [0, 40, 45, 300, 600].map((startMs) => ({
    call,
    startMs,
    endMs: startMs + 1,
    lane: 0,
    prefixBreak: startMs === 300 ? prefixBreak : null,
  }))
  const course = { pieces, placeOf, lengthMs: 1000 }
  const all = axisMarks(course, 1000, 0, 1000, oneDay)
  assert.deepEqual(
    all.times.map(({ px }) => px),
    [0, 300, 600],
  )
  assert.deepEqual(
    all.signs.map(({ px, kind }) => `${kind} ${px}`),
    // A failed call is red besides.
    ['break 300', 'failed 0', 'failed 40', 'failed 600'],
  )
  assert.match(all.signs[0]!.words, /^Cache break: 0 prompt tokens cached, after 9,000 in the previous call/)
  assert.deepEqual(
    axisMarks(course, 1000, 200, 400, oneDay).times.map(({ px }) => px),
    [300],
  )
})

test('times tell their day where a session goes on for more than one', () => {
  const call = { failed: false } as CallJson
  const pieces = [0, 200, 400, 700].map((startMs) => ({
    call,
    startMs,
    endMs: startMs + 1,
    lane: 0,
    prefixBreak: null,
  }))
  const course = { pieces, placeOf, lengthMs: 1000 }
  const dayOf = (ms: number): string => (ms < 300 ? '21 Nov' : '22 Nov')
  const newDays = (fromPx: number): readonly [number, boolean][] =>
    axisMarks(course, 1000, fromPx, 1000, dayOf).times.map(({ px, isNewDay }) => [px, isNewDay])
  assert.deepEqual(newDays(0), [
    [0, true],
    [200, false],
    [400, true],
    [700, false],
  ])
  assert.deepEqual(newDays(500), [[700, false]])
  assert.ok(axisMarks(course, 1000, 0, 1000, oneDay).times.every(({ isNewDay }) => !isNewDay))
})

test('a gap that was cut says how long it was, whatever follows it', () => {
  const gap = (startMs: number, endMs: number, isCut = false) => ({ startMs, endMs, tools: [], isCut })
  const gaps = [
    gap(0, 50),
    gap(60, 80, true),
    gap(100, 140),
    gap(150, 170),
    gap(190, 230),
    gap(240, 250, true),
    gap(300, 310, true),
  ]
  assert.deepEqual(
    gapsBetween({ gaps, placeOf }, 1000, 0, 1000).map(({ leftPx, roomPx, hasWords }) => [
      leftPx,
      roomPx,
      hasWords,
    ]),
    [
      [0, 60, true],
      [60, 128, true],
      [100, 40, false],
      [150, 20, false],
      [190, 50, true],
      // The next that was cut bounds it.
      [240, 60, true],
      [300, 700, true],
    ],
  )
})

test('the words of a gap have the room up to the next one', () => {
  const gap = (startMs: number, endMs: number, isCut = false) => ({ startMs, endMs, tools: [], isCut })
  const gaps = [gap(0, 20), gap(60, 61), gap(100, 300, true), gap(310, 320)]
  assert.deepEqual(
    gapsBetween({ gaps, placeOf }, 1000, 0, 305).map(({ leftPx, widthPx, roomPx }) => [
      leftPx,
      widthPx,
      roomPx,
    ]),
    [
      // A gap of one pixel is not seen.
      [0, 20, 100],
      [100, 200, 210],
    ],
  )
})

test('a line goes by steps to the end, and has one point of each pixel: the one that stands out', () => {
  const room = { left: 0, width: 100, height: 10, end: 100 }
  const points = [
    { ms: 0, value: 10 },
    { ms: 50, value: 5 },
    { ms: 50.1, value: 0 },
    { ms: 50.2, value: 5 },
    { ms: 80, value: 10 },
  ]
  assert.equal(linePath(points, (ms) => ms, 10, room).line, 'M0 1H50V11H80V1H100')
  // What is to the left counts for where the line begins.
  assert.equal(linePath(points, (ms) => ms, 10, { ...room, left: 60, width: 40 }).line, 'M-10 6H20V1H40')
  assert.deepEqual(
    linePath([], (ms) => ms, 10, room),
    { line: '', area: '' },
  )
})
