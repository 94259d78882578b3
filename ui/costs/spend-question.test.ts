import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultAddress } from '../data/page-address.ts'
import { matchesPath } from '../data/free-calls.ts'
import { boundsBefore, comparable, courseGroups, spendBounds, spendPath, unitOf } from './spend-question.ts'

const hourMs = 3_600_000
const span = (hours: number): { fromMs: number; toMs: number } => ({ fromMs: 0, toMs: hours * hourMs })

test('bars are as wide as there are not too many, and of years nothing is told apart', () => {
  assert.deepEqual(
    [1, 6, 24, 72, 168, 720].map((hours) => unitOf(span(hours))),
    ['minute', 'hour', 'hour', 'hour', 'day', 'day'],
  )
  assert.equal(courseGroups(span(24), 'client'), 'hour,client')
  assert.equal(courseGroups(span(24 * 365), 'model'), 'day')
})

test('all questions of a view are of one time', () => {
  const nowMs = Date.parse('2026-11-21T12:00:01.234Z')
  const bounds = spendBounds(defaultAddress, nowMs)
  assert.deepEqual(bounds, spendBounds(defaultAddress, nowMs + 8000))
  assert.equal(bounds.toMs - bounds.fromMs, 24 * hourMs)
  assert.deepEqual(boundsBefore(bounds), { fromMs: bounds.fromMs - 24 * hourMs, toMs: bounds.fromMs })
  assert.deepEqual(boundsBefore({ fromMs: 5, toMs: 20 }), { fromMs: 0, toMs: 5 })
})

test('questions bear the filters, and the zone where days are counted', () => {
  const address = { ...defaultAddress, models: ['a b'], errorsOnly: true }
  const bounds = { fromMs: 0, toMs: hourMs }
  const query = (path: string): Record<string, string> =>
    Object.fromEntries(new URL(path, 'http://x').searchParams)
  assert.deepEqual(query(spendPath(address, bounds, 'day,model', 'Europe/Berlin')), {
    from: '1970-01-01T00:00:00.000Z',
    to: '1970-01-01T01:00:00.000Z',
    group_by: 'day,model',
    measures: 'none',
    model: 'a b',
    errors_only: 'true',
    tz: 'Europe/Berlin',
  })
  assert.equal(query(spendPath(address, bounds, 'model', 'Europe/Berlin'))['tz'], undefined)
  assert.deepEqual(query(matchesPath(bounds)), {
    from: '1970-01-01T00:00:00.000Z',
    to: '1970-01-01T01:00:00.000Z',
  })
})

test('a time that recording reached only in part is not compared with', () => {
  const since = (ms: number): { recorded_from: string } => ({ recorded_from: new Date(ms).toISOString() })
  const past = { fromMs: 1000, toMs: 2000 }
  assert.equal(comparable(since(1001), past), null)
  assert.equal(comparable({ recorded_from: null }, past), null)
  const whole = since(1000)
  assert.equal(comparable(whole, past), whole)
})
