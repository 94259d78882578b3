import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSameRows } from './assert-same-rows.ts'

test('equal lists pass, and others are told by counts and their first differences', () => {
  assertSameRows([], [])
  assertSameRows([{ id: 1 }, null], [{ id: 1 }, null])
  assert.throws(() => assertSameRows([{ id: 1 }], [{ id: 2 }], 'calls'), {
    message: 'calls: 1 rows, expected 1; the first differences:\n  at 0: got {"id":1}, expected {"id":2}',
  })
  assert.throws(() => assertSameRows([], [undefined]), /0 rows, expected 1/)
})

test('the difference of a million rows is short', () => {
  const rows = Array.from({ length: 1_000_000 }, (_, id) => ({ id }))
  assert.throws(
    () => assertSameRows(rows.slice(1), rows),
    (error: Error) =>
      error.message.length < 1000 && error.message.startsWith('999999 rows, expected 1000000'),
  )
})
