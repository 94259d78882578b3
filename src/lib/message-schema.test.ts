import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { amount, count, finite, fits, integer } from './message-schema.ts'
import { readMessage } from './message-shape.ts'

const point = v.object({ x: count, name: v.optional(v.string()) })

const cases: readonly [
  name: string,
  schema: v.GenericSchema,
  good: readonly unknown[],
  bad: readonly unknown[],
][] = [
  ['number', finite, [-1, 0.5, 1e300], [Number.NaN, Infinity, '1', null]],
  ['amount', amount, [0, 0.5], [-0.1, '1', Infinity]],
  ['count', count, [0, 7], [-1, 0.5, 1e300, '1', null]],
  ['whole', integer(2, 4), [2, 4], [1, 5, 2.5]],
  [
    'point',
    point,
    [{ x: 1 }, { x: 1, name: 'a', new_one: {} }],
    [{}, { x: '1' }, { x: 1, name: 2 }, [], null],
  ],
]

for (const [name, schema, good, bad] of cases) {
  test(`what is a ${name}, and what is none`, () => {
    for (const value of good) assert.ok(fits(schema)(value), JSON.stringify(value))
    for (const value of bad) assert.ok(!fits(schema)(value), JSON.stringify(value))
  })
}

test('a text is read where it is JSON of the schema', () => {
  assert.deepEqual(readMessage('{"x":1,"y":2}', fits(point)), { x: 1, y: 2 })
  for (const text of ['', 'junk', '{"x":1', '{"x":-1}', 'null', '1e999', '[{"x":1}]'])
    assert.equal(readMessage(text, fits(point)), null, text)
})
