import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultAddress } from '../data/page-address.ts'
import { overviewPath } from './overview-question.ts'

const nowMs = Date.parse('2026-11-21T12:30:15.678Z')

test('a range that ends now: from a whole second, without an end', () => {
  const path = overviewPath(
    { ...defaultAddress, range: { last: '1h' }, models: ['a/b'] },
    'Europe/Berlin',
    nowMs,
  )
  const query = new URLSearchParams(path.split('?')[1])
  assert.deepEqual(Object.fromEntries(query), {
    from: '2026-11-21T11:30:15.000Z',
    model: 'a/b',
    tz: 'Europe/Berlin',
  })
})

test('two instants are asked as they are', () => {
  const range = { last: null, fromMs: nowMs - 1234, toMs: nowMs } as const
  const query = new URLSearchParams(
    overviewPath({ ...defaultAddress, range }, 'UTC', nowMs + 9999).split('?')[1],
  )
  assert.equal(query.get('from'), '2026-11-21T12:30:14.444Z')
  assert.equal(query.get('to'), '2026-11-21T12:30:15.678Z')
})
