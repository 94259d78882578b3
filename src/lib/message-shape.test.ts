import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Shape,
  either,
  isAmount,
  isCount,
  isFlag,
  isNumber,
  isOneOf,
  isText,
  isWhole,
  listOf,
  mapOf,
  nullable,
  optional,
  readMessage,
  record,
} from './message-shape.ts'

const point = record<{ readonly x: number; readonly name?: string | undefined }>({
  x: isCount,
  name: optional(isText),
})

const cases: readonly [
  name: string,
  shape: Shape<unknown>,
  fits: readonly unknown[],
  not: readonly unknown[],
][] = [
  ['text', isText, ['', 'a'], [null, undefined, 1, ['a']]],
  ['flag', isFlag, [true, false], [0, 'true', null]],
  ['number', isNumber, [-1, 0.5, 1e300], [Number.NaN, Infinity, '1', null]],
  ['amount', isAmount, [0, 0.5], [-0.1, '1', Infinity]],
  ['count', isCount, [0, 7], [-1, 0.5, 1e300, '1', null]],
  ['whole', isWhole(2, 4), [2, 4], [1, 5, 2.5]],
  ['word', isOneOf(['a', true]), ['a', true], ['b', 'true', false, null]],
  ['nullable', nullable(isText), [null, 'a'], [undefined, 1]],
  ['optional', optional(isText), [undefined, 'a'], [null, 1]],
  ['either', either(isText, isFlag), ['a', true], [1, null]],
  ['list', listOf(isText), [[], ['a']], [['a', 1], { length: 0 }, null, 'a']],
  ['map', mapOf(isText), [{}, { any: 'a' }], [{ any: 1 }, ['a'], null]],
  [
    'record',
    point,
    [{ x: 1 }, { x: 1, name: 'a', new_one: {} }],
    [{}, { x: '1' }, { x: 1, name: 2 }, [], null],
  ],
]

for (const [name, shape, fits, not] of cases) {
  test(`what is a ${name}, and what is none`, () => {
    for (const value of fits) assert.ok(shape(value), JSON.stringify(value))
    for (const value of not) assert.ok(!shape(value), JSON.stringify(value))
  })
}

test('a text is read where it is JSON of the shape', () => {
  assert.deepEqual(readMessage('{"x":1,"y":2}', point), { x: 1, y: 2 })
  for (const text of ['', 'junk', '{"x":1', '{"x":-1}', 'null', '1e999', '[{"x":1}]']) {
    assert.equal(readMessage(text, point), null, text)
  }
})
