import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as json from './json-check.ts'
import { type JsonCheck, JsonValueError } from './json-check.ts'

const order = json.object({
  name: json.text,
  parts: json.listOf(json.mapOf(json.whole(1, 3))),
  mode: json.or(json.oneOf(['a', 'b']), 'a'),
  loud: json.optional(json.flag),
})

function errorOf(check: JsonCheck<unknown>, value: unknown): JsonValueError {
  try {
    check(value)
  } catch (error) {
    assert.ok(error instanceof JsonValueError, String(error))
    return error
  }
  return assert.fail(`${JSON.stringify(value)} passes`)
}

test('what is absent counts as it is said to, or is left out', () => {
  assert.deepEqual(order({ name: 'x', parts: [{ one: 1 }] }), { name: 'x', parts: [{ one: 1 }], mode: 'a' })
})

const wrong: readonly (readonly [value: unknown, message: string])[] = [
  [null, ' must be an object; it is null'],
  [[], ' must be an object; it is an empty list'],
  [{}, 'name must be a text that is not empty; it is missing'],
  [{ name: 5 }, 'name must be a text that is not empty; it is 5'],
  [{ name: 'x', parts: [] }, 'parts must be a list that is not empty; it is an empty list'],
  [{ name: 'x', parts: [{}, { 'a.b': 4 }] }, 'parts[1]["a.b"] must be a whole number from 1 to 3; it is 4'],
  [{ name: 'x', parts: [{ a: 1.5 }] }, 'parts[0].a must be a whole number from 1 to 3; it is 1.5'],
  [{ name: 'x', parts: [{}], mode: 'c' }, 'mode must be "a" or "b"; it is "c"'],
  [{ name: 'x', parts: [{}], loud: null }, 'loud must be true or false; it is null'],
  [{ nam: 1 }, 'nam is not known here; there may be name, parts, mode, loud'],
  [JSON.parse('{"__proto__": 1}'), '__proto__ is not known here; there may be name, parts, mode, loud'],
  [{ constructor: 1 }, 'constructor is not known here; there may be name, parts, mode, loud'],
]
for (const [value, message] of wrong) {
  test(`${JSON.stringify(value)} is refused by its path, with what is allowed and what was got`, () =>
    assert.equal(errorOf(order, value).message, message))
}

test('the parts of an error are there for who says it in other words', () => {
  const { path, flaw, allowed, got, at } = errorOf(order, { name: 'x', parts: [{ a: 'y'.repeat(99) }] })
  assert.deepEqual([path, allowed, at], [['parts', 0, 'a'], 'a whole number from 1 to 3', 'value'])
  assert.equal(got, 'y'.repeat(99))
  assert.ok(flaw.length < 150)
  assert.deepEqual(errorOf(order, { typo: 1 }).at, 'name')
})

test('remarks are kept where they may be, whatever they are called', () => {
  const check = json.object({ a: json.text }, { remarks: true })
  const read = check(JSON.parse('{"a": "x", "_": 1, "__proto__": {"b": 1}}'))
  assert.equal(JSON.stringify(read), '{"_":1,"__proto__":{"b":1},"a":"x"}')
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
})
