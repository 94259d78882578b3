import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forecastBounds, monthForecast } from './month-forecast.ts'

const days = (first: string, ...costs: readonly (number | null)[]) =>
  costs.map((cost_usd, index) => ({
    key: new Date(Date.parse(`${first}T00:00Z`) + index * 86_400_000).toISOString().slice(0, 10),
    cost_usd,
  }))

/** The forecast of days of which the first is the first with a record. */
const forecastOf = (first: string, ...costs: readonly (number | null)[]) =>
  monthForecast(days(first, ...costs), first)

test('the month so far, and as many days to come as it has, each as the last seven', () => {
  const week = [7, 7, 7, 7, 7, 7, 7]
  // Two days of October count only for the mean. Today has cost less than an average day.
  assert.deepEqual(forecastOf('2026-10-30', ...week.slice(0, 7), 3), {
    soFarUsd: 5 * 7 + 3,
    endUsd: 6 * 7 + 24 * 7,
  })
  // A single expensive day already exceeds the mean.
  assert.deepEqual(forecastOf('2026-11-23', ...week, 100), { soFarUsd: 149, endUsd: 149 })
  assert.deepEqual(forecastOf('2028-02-27', 2, 4), { soFarUsd: 6, endUsd: 6 + 2 })
})

test('without a whole day nothing is forecast, and without a price nothing is told', () => {
  assert.deepEqual(forecastOf('2026-11-23', 5), { soFarUsd: 5, endUsd: null })
  assert.equal(forecastOf('2026-11-20', null, null), null)
  assert.equal(monthForecast([], '2026-11-20'), null)
})

test('days without calls before the first one that has some cost nothing', () => {
  const forecast = monthForecast(days('2026-12-02', 14, 1), '2026-10-05')
  assert.deepEqual(forecast, { soFarUsd: 15, endUsd: 15 + 1 + 28 * 2 })
})

test('days are asked for from the first of the month, and a week back at least', () => {
  const from = (now: string): string => new Date(forecastBounds(Date.parse(now), true).fromMs).toISOString()
  assert.equal(from('2026-11-23T10:00:00Z'), '2026-11-01T00:00:00.000Z')
  assert.equal(from('2026-11-03T10:00:00Z'), '2026-10-27T00:00:00.000Z')
  assert.equal(from('2026-01-01T00:00:00Z'), '2025-12-25T00:00:00.000Z')
})
