import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { Times } from '../format/times.ts'
import { axisSigns, axisTimes, drawnGaps, linePath } from './timeline-drawing.ts'

/** An axis with a pixel for each millisecond. */
const axis = { axisPx: 1000, fromPx: 0, toPx: 1000, pxOf: (ms: number) => ms }

test('signs have room, and stand where they stood when what is looked at moves', () => {
  const failure = { failed: true, outcome: 'upstream_error', failure_code: 'upstream_http', status: 529 }
  const call = failure as CallJson
  const prefixBreak = { before: 9000, now: 0, afterMs: 1500 }
  const pieces = [0, 40, 45, 300, 600].map((startMs) => ({
    call,
    startMs,
    endMs: startMs + 1,
    lane: 0,
    prefixBreak: startMs === 300 ? prefixBreak : null,
  }))
  const signs = axisSigns({ pieces, ...axis })
  // A failed call's bar is red, too, so the cache break is shown.
  const shown = 'break 300, failed 0, failed 40, failed 600'
  assert.equal(signs.map(({ px, kind }) => `${kind} ${px}`).join(', '), shown)
  assert.match(signs[0]!.words, /^Cache break: 0 prompt tokens cached, after 9,000 in the previous call/)
})

const times = new Times(true, () => Date.UTC(2026, 10, 21))
const minuteMs = 60_000

test('times on the axis are round, the step follows the zoom, and what is seen changes none', () => {
  const lengthMs = 10 * minuteMs
  const beganMs = Date.parse('2026-11-21T14:00:48Z')
  const course = { gaps: [], lengthMs, axisMs: lengthMs, beganMs }
  const clocks = (axisPx: number, fromPx: number, toPx: number): readonly string[] => {
    const pxOf = (ms: number): number => (ms / lengthMs) * axisPx
    const view = { ...course, axisPx, fromPx, toPx, pxOf }
    return axisTimes(view, times).map(({ ms }) => times.seconds(beganMs + ms))
  }
  assert.deepEqual(clocks(500, 0, 500), ['14:02:00', '14:04:00', '14:06:00', '14:08:00'])
  assert.deepEqual(clocks(8000, 4000, 4500), ['14:05:40', '14:05:50', '14:06:00', '14:06:10', '14:06:20'])
  // The visible part is shorter than a second.
  assert.equal(clocks(50_000_000, 0, 800).length, 1)
})

test('a gap that is cut has no times, and a time tells its day where the day changes', () => {
  const dayMs = 24 * 60 * minuteMs
  const beganMs = Date.parse('2026-11-20T23:56:30Z')
  const [cut, ended] = [8 * minuteMs, dayMs]
  const lengthMs = ended + 8 * minuteMs
  const axisMs = 18 * minuteMs
  const view = {
    ...axis,
    gaps: [{ startMs: cut, endMs: ended, tools: [], isCut: true }],
    pxOf: (ms: number) => ((ms <= cut ? ms : 2 * minuteMs + cut + ms - ended) / axisMs) * 1000,
    lengthMs,
    axisMs,
    beganMs,
  }
  const shown = axisTimes(view, times).map(
    ({ ms, isNewDay }) => times.clock(beganMs + ms) + (isNewDay ? '!' : ''),
  )
  assert.equal(shown.join(' '), '23:58! 00:00! 00:02 00:04 23:58 00:00! 00:02')
})

/** Gaps from `start-end` in milliseconds; `!` is one that was cut. */
const gapsOf = (text: string) =>
  text.split(' ').map((gap) => {
    const [startMs = 0, endMs = 0] = gap.split('-').map((ms) => Number.parseInt(ms))
    return { startMs, endMs, tools: [], isCut: gap.endsWith('!') }
  })

test('a gap that was cut says how long it was, whatever follows it', () => {
  const gaps = gapsOf('0-50 60-80! 100-140 150-170 190-230 240-250! 300-310!')
  const drawn = drawnGaps({ gaps, ...axis }).map(({ leftPx, roomPx, hasWords }) => [leftPx, roomPx, hasWords])
  // The next shortened gap limits the room of the sixth.
  const shown = '0,60,true 60,128,true 100,40,false 150,20,false 190,50,true 240,60,true 300,700,true'
  assert.equal(drawn.join(' '), shown)
})

test('the words of a gap have the room up to the next one, and a gap of one pixel is invisible', () => {
  const gaps = gapsOf('0-20 60-61 100-300! 310-320')
  const drawn = drawnGaps({ gaps, ...axis, toPx: 305 })
  assert.equal(
    drawn.map(({ leftPx, widthPx, roomPx }) => [leftPx, widthPx, roomPx]).join(' '),
    '0,20,100 100,200,210',
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
  // Points to the left of the visible part decide where the line begins.
  assert.equal(linePath(points, (ms) => ms, 10, { ...room, left: 60, width: 40 }).line, 'M-10 6H20V1H40')
  assert.equal(Object.values(linePath([], (ms) => ms, 10, room)).join(''), '')
})
