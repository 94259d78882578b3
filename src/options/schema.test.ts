import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import * as json from './schema.ts'

const order = json.object({
  name: json.text,
  parts: json.listOf(json.mapOf(json.integer(1, 3))),
  mode: v.optional(v.picklist(['a', 'b']), 'a'),
  loud: v.optional(v.boolean()),
})

function errorOf(schema: json.Schema, value: unknown): json.JsonValueError {
  try {
    json.checked(schema, value)
  } catch (error) {
    assert.ok(error instanceof json.JsonValueError, String(error))
    return error
  }
  return assert.fail(`${JSON.stringify(value)} passes`)
}

test('what is absent counts as it is said to, or is left out', () => {
  const read = json.checked(order, { name: 'x', parts: [{ one: 1 }] })
  assert.deepEqual(read, { name: 'x', parts: [{ one: 1 }], mode: 'a' })
})

const wrong: readonly (readonly [value: unknown, message: string])[] = [
  [null, ' must be an object; it is null'],
  [[], ' must be an object; it is an empty list'],
  [{}, 'name must be a text that is not empty; it is missing'],
  [{ name: 5 }, 'name must be a text that is not empty; it is 5'],
  [{ name: 'x' }, 'parts must be a list that is not empty; it is missing'],
  [{ name: 'x', parts: [] }, 'parts must be a list that is not empty; it is an empty list'],
  [{ name: 'x', parts: [{}, { 'a.b': 4 }] }, 'parts[1]["a.b"] must be a whole number from 1 to 3; it is 4'],
  [{ name: 'x', parts: [{ a: 1.5 }] }, 'parts[0].a must be a whole number from 1 to 3; it is 1.5'],
  [{ name: 'x', parts: [{}], mode: 'c' }, 'mode must be "a" or "b"; it is "c"'],
  [{ name: 'x', parts: [{}], loud: null }, 'loud must be true or false; it is null'],
  [{ nam: 1 }, 'nam is unknown here; known are name, parts, mode, loud'],
  [JSON.parse('{"__proto__": 1}'), '__proto__ is unknown here; known are name, parts, mode, loud'],
  [{ constructor: 1 }, 'constructor is unknown here; known are name, parts, mode, loud'],
]
for (const [value, message] of wrong) {
  test(`${JSON.stringify(value)} is refused by its path, with what is allowed and what was got`, () =>
    assert.equal(errorOf(order, value).message, message))
}

test('the parts of an error are there for who says it in other words', () => {
  const { path, flaw, at } = errorOf(order, { name: 'x', parts: [{ a: 'y'.repeat(99) }] })
  assert.deepEqual([path, at], [['parts', 0, 'a'], 'value'])
  assert.ok(flaw.length < 150)
  assert.deepEqual(errorOf(order, { typo: 1 }).at, 'name')
})

test('an error of a rule has the path that the rule gives', () => {
  const even = v.pipe(
    json.listOf(v.number()),
    json.rule((all) => {
      const odd = all.findIndex((one) => one % 2 === 1)
      if (odd >= 0) throw new json.JsonValueError('is odd', [odd])
    }),
  )
  assert.equal(errorOf(json.object({ all: even }), { all: [2, 3] }).message, 'all[1] is odd')
})

test('a name of a map may be one that objects have of themselves', () => {
  const input = JSON.parse('{"__proto__": 1, "constructor": 2, "prototype": 3}') as object
  const read = json.checked(json.mapOf(json.integer(1, 3)), input)
  assert.equal(JSON.stringify(read), JSON.stringify(input))
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
})

test('remarks are kept where they may be', () => {
  const schema = json.objectWithRemarks({ a: json.text })
  assert.deepEqual(json.checked(schema, { a: 'x', _: 1, _why: { b: 1 } }), { a: 'x', _: 1, _why: { b: 1 } })
  assert.match(errorOf(schema, JSON.parse('{"a": "x", "__proto__": {}}')).flaw, /^is unknown here/)
})
