import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { exportPath, listPath } from './calls-question.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')
const dayMs = 86_400_000
const calls: PageAddress = { ...defaultAddress, view: 'calls' }

test('the newest are listed to the open end of the range', () => {
  assert.equal(listPath(calls, nowMs), '/api/query?from=2026-11-20T12%3A00%3A00.000Z&limit=100')
})

test('another order is of the same time', () => {
  const dear = { ...calls, sort: 'cost', range: { last: '30d' } } as const
  const path = listPath(dear, nowMs)
  assert.equal(path, '/api/query?from=2026-10-22T12%3A00%3A00.000Z&sort=cost&limit=100')
})

test('a file holds all calls of the range, in whichever order they are listed', () => {
  const range = { last: null, fromMs: nowMs - dayMs, toMs: nowMs } as const
  const failed = { ...calls, range, errorsOnly: true, sort: 'duration' } as const
  assert.equal(
    exportPath(failed, nowMs, 'parquet'),
    '/api/export?from=2026-11-20T12%3A00%3A00.000Z&to=2026-11-21T12%3A00%3A00.000Z&errors_only=true&format=parquet',
  )
})

test('a list is another one when its calls or their order are, not when a panel opens', () => {
  const key = listPath(calls, nowMs)
  assert.equal(listPath({ ...calls, call: '6gzw5raer00', tab: 'chat' }, nowMs), key)
  for (const change of [{ q: 'x' }, { sort: 'cost' }, { range: { last: '1h' } }] as const) {
    assert.notEqual(listPath({ ...calls, ...change }, nowMs), key)
  }
})
