import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawSeries, runsOf } from './draw-series.ts'
import type { Palette } from './palette.ts'

/** The middles of the dots that are drawn of single calls in four seconds, 100 pixels wide and high. */
function dotsOf(each: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const dots: number[][] = []
  const context = {
    beginPath: () => {},
    arc: (...[x, y, radius]: number[]) => dots.push([x ?? 0, y ?? 0, radius ?? 0]),
    fill: () => {},
  } as unknown as CanvasRenderingContext2D
  drawSeries(context, {
    frame: { fromMs: 0, toMs: 4010, startsMs: [0, 1000, 2000, 3000, 4000], bucketMs: 1000 },
    scale: { kind: 'linear', from: 0, to: 100, ticks: [] },
    series: [
      {
        key: 'call',
        words: 'Single calls',
        colour: 'accent',
        kind: 'dots',
        values: each.map((values) => values.at(-1) ?? null),
        each,
        show: String,
      },
    ],
    palette: { accent: '#000' } as Palette,
    width: 100,
    height: 100,
  })
  return dots
}

test('every call of a bucket is a dot, and all of it is seen, also at the edges', () => {
  const dots = dotsOf([[50], [], [0, 20, 100], [], [70]])
  assert.equal(dots.length, 5)
  for (const [x = 0, y = 0, radius = 0] of dots) {
    assert.ok(x >= radius && x <= 100 - radius && y >= radius && y <= 100 - radius, `${x}, ${y}`)
  }
  assert.deepEqual(
    dots.slice(0, 4).map(([, y]) => Math.round(y ?? 0)),
    [50, 98, 80, 3],
  )
})

test('pieces between gaps', () => {
  assert.deepEqual(runsOf([null, 1, 2, null, null, 3, null]), [[1, 2], [3]])
  assert.deepEqual(runsOf([1, 2]), [[1, 2]])
  assert.deepEqual(runsOf([null]), [])
  assert.deepEqual(runsOf([]), [])
})
