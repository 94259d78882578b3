import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searched } from './searched.ts'

test('a search is an id, a status or an error code', () => {
  assert.deepEqual(searched(' 6GZW5RAER00 '), { id: '6gzw5raer00' })
  assert.deepEqual(searched('429'), { filter: { statuses: ['429'], q: '' } })
  for (const code of ['rate_limit_exceeded', '1302', '42', '4290', '']) {
    assert.deepEqual(searched(code), { filter: { q: code } })
  }
})
