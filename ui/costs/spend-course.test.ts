import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarFrame } from '../charts/calendar-frame.ts'
import { drawnValues } from '../charts/chart-series.ts'
import { axisDollars, bucketSums, spendPanel } from './spend-course.ts'
import type { CourseGroup } from './spend-figures.ts'

const question = { unit: 'day', by: 'model', utc: true } as const
const fromMs = Date.parse('2026-11-19T08:00:00Z')
const frame = calendarFrame({ fromMs, toMs: Date.parse('2026-11-21T09:00:00Z') }, 'day', true)

const usual = { calls: 2, no_usage_calls: 0, cached_share: null, cache_saved_usd: null, total_tokens: 10 }

function group(
  day: string,
  model: string | null,
  usd: number | null,
  rest: Partial<CourseGroup> = {},
): CourseGroup {
  return { keys: { day, model }, cost_usd: usd, unpriced_calls: usd === null ? 2 : 0, ...usual, ...rest }
}

test('the dearest stands below, six are told apart, and the rest of both kinds is one', () => {
  const groups = [
    ...'abcdefgh'.split('').map((name, at) => group('2026-11-19', name, 1 + at)),
    group('2026-11-20', 'h', 5),
    group('2026-11-20', 'other', 0.5, { rest: true }),
    group('2026-11-20', 'local', null),
  ]
  const { series } = spendPanel(frame, groups, question)
  const values = Object.fromEntries(series.map(({ words, values }) => [words, JSON.stringify(values)]))
  const gaps = [8, 7, 6, 5, 4, 3].map((usd) => `[${usd},${usd === 8 ? 5 : null},null]`)
  const [h, g, f, e, d, c] = gaps
  assert.deepEqual(values, { h, g, f, e, d, c, Others: '[3,0.5,null]' })
  assert.equal(Object.keys(values).join(''), 'hgfedcOthers')
  const others = series.at(-1)
  assert.ok(others !== undefined)
  assert.deepEqual(drawnValues(others, series), [36, 5.5, null])
  // When a series is hidden, the others close the gap.
  assert.deepEqual(drawnValues(others, series.slice(1)), [28, 0.5, null])
})

test('a model that is called as the rest is none of it, and calls of no model have words', () => {
  const groups = [group('2026-11-19', 'other', 2), group('2026-11-19', null, 1)]
  const { series } = spendPanel(frame, groups, question)
  assert.equal(series.map(({ words }) => words).join(', '), 'other, No model')
})

test('what nobody has a price for is a gap, and all of a bar is told beside it', () => {
  const groups = [
    group('2026-11-20', 'local', null),
    group('2026-11-21', 'a', 1),
    group('2026-11-21', 'local', null),
  ]
  const { series } = spendPanel(frame, groups.slice(0, 1), question)
  assert.equal(JSON.stringify(series.map(({ values }) => values)), '[[null,null,null]]')
  assert.deepEqual(bucketSums(frame, groups, question), [
    { usd: null, calls: 0, unpricedCalls: 0 },
    { usd: null, calls: 2, unpricedCalls: 2 },
    { usd: 1, calls: 4, unpricedCalls: 2 },
  ])
})

test('without a name to tell apart there is one series', () => {
  const { keys: _keys, ...figures } = group('', null, 2)
  const { series } = spendPanel(frame, [{ ...figures, key: '2026-11-20' }], question)
  assert.deepEqual(
    series.map(({ words, values }) => `${words} ${JSON.stringify(values)}`).join(),
    'Spend [null,2,null]',
  )
})

test('dollars at the side of a plot', () => {
  const alone = [0, 0.002, 0.5, 2, 2.5, 200, 5000].map((usd) => axisDollars(usd, [usd]))
  assert.equal(alone.join(' '), '0 $0.002 $0.50 $2 $2.50 $200 $5,000')
  const ticks = [0, 0.5, 1, 1.5]
  assert.equal(ticks.map((usd) => axisDollars(usd, ticks)).join(' '), '0 $0.50 $1.00 $1.50')
})
