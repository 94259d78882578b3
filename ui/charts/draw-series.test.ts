import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartSeries } from './chart-series.ts'
import { drawSeries } from './draw-series.ts'

/** Returns the data of all paths of a drawing of 100 by 100 pixels, for 100 ms and values up to 100. */
function pathsOf(startsMs: readonly number[], ...series: readonly ChartSeries[]): readonly string[] {
  return drawSeries({
    frame: { fromMs: 0, toMs: 100, startsMs, bucketMs: 100 / startsMs.length },
    scale: { kind: 'linear', from: 0, to: 100, ticks: [] },
    series,
    width: 100,
    height: 100,
  })
    .map(({ d }) => d)
    .filter((d) => d !== '')
}

const rest = { key: 'one', words: 'One', colour: 'accent', show: String } as const

test('every call of a bucket is a dot, and all of it is seen, also at the edges', () => {
  const dots = [[50], [], [0, 20, 100], [], [70]]
  const values = dots.map((calls) => calls.at(-1) ?? null)
  assert.deepEqual(pathsOf([0, 20, 40, 60, 98], { ...rest, kind: 'dots', values, dots }), [
    'M10 50h0M50 97.5h0M50 80h0M50 2.5h0M97.5 30h0',
  ])
})

test('a line has gaps, and a dot where a value stands alone', () => {
  const values = [0, 100, null, 50]
  assert.deepEqual(pathsOf([0, 25, 50, 75], { ...rest, kind: 'line', values }), [
    'M12.5 100L37.5 0',
    'M87.5 50h0',
  ])
})

test('where values are held back a pale line goes on from those before to those behind', () => {
  const values = [0, 100, null, 50]
  const missing = (): string => 'needs 20 calls'
  assert.deepEqual(pathsOf([0, 25, 50, 75], { ...rest, kind: 'line', values, missing }), [
    'M12.5 100L37.5 0L87.5 50',
    'M12.5 100L37.5 0',
    'M87.5 50h0',
  ])
})

test('a stepped line keeps its value for the whole of a bucket', () => {
  assert.deepEqual(pathsOf([0, 40, 80], { ...rest, kind: 'line', isStepped: true, values: [3, 5, 3] }), [
    'M0 97L40 97L40 95L80 95L80 97L100 97',
  ])
})

test('bars stand on one another, and the least is seen', () => {
  const ok: ChartSeries = { ...rest, key: 'ok', kind: 'bars', values: [50, 20] }
  const failed: ChartSeries = { ...rest, key: 'failed', kind: 'bars', values: [0.1, 30], standsOn: ['ok'] }
  assert.deepEqual(pathsOf([0, 50], failed, ok), [
    'M0 49H49V50H0ZM50 50H99V80H50Z',
    'M0 50H49V100H0ZM50 80H99V100H50Z',
  ])
})
