import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callColumns, columnNames, fittingColumns, parseColumns } from './chosen-columns.ts'

test('a wide table shows more columns, in their order, and never more than fit', () => {
  let before = 0
  for (let widthRem = 10; widthRem < 120; widthRem += 0.5) {
    const columns = fittingColumns(widthRem)
    assert.deepEqual(
      columns,
      columnNames.filter((name) => columns.includes(name)),
    )
    assert.ok(columns.length >= before)
    const taken = columns.reduce((sum, name) => sum + callColumns[name].rem, 0)
    assert.ok(taken <= widthRem, `${taken} of ${widthRem}`)
    before = columns.length
  }
  assert.ok(before >= 12)
})

test('the bars come last, and are there on a small screen already', () => {
  // A window of 768 pixels leaves this width.
  assert.equal(fittingColumns(45.9).at(-1), 'timing')
})

test('a choice is read with its time, and without what is no column any more', () => {
  assert.equal(parseColumns(null), null)
  assert.deepEqual(parseColumns('timing gone model'), ['time', 'model', 'timing'])
  assert.deepEqual(parseColumns(''), ['time'])
})
