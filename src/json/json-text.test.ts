import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { placeInJson, readJson } from './json-text.ts'

const wrong: readonly (readonly [string, string, RegExp, number | null, number | null])[] = [
  ['nothing', '', /it ends too early/, 1, 1],
  ['a comma too many', '{"a": 1,}', /expected double-quoted property name\.$/, 1, 9],
  ['a comma too few', '{"a": 1\n "b": 2}', /expected ',' or '}' after property value\.$/, 2, 2],
  ['half a file', '{"a": {"b":\n  [1, 2\n', /it ends too early/, 2, 8],
  ['half a string', '{"a": "b', /it ends too early/, 1, 9],
  ['NaN', '{"a":\n\n  NaN}', /'N' is out of place/, 3, 3],
  ['half a word', '{"a":\n tru}', /'}' is out of place/, 2, 2],
  ['a leading zero', '[01]', /unexpected number\.$/, 1, 3],
  ['more behind it', '{} x', /unexpected non-whitespace character after JSON/, 1, 4],
  ['HTML', '<!doctype html><p>no</p>', /'<' is out of place/, 1, 1],
  ['a control character', '["a\u0001"]', /bad control character in string literal/, 1, 4],
  ['a name twice', '{"a": {"b": 1,\n    "c": 2, "b": 3}}', /The name "b" is twice/, 2, 13],
  ['a name twice, spelled otherwise', '[{"a": 1, "\\u0061": 2}]', /The name "a" is twice/, 1, 11],
  ['too deep', '['.repeat(100_000) + ']'.repeat(100_000), /levels deep/, null, null],
]

for (const [name, text, message, line, column] of wrong) {
  test(`tells of ${name}, and where`, () => {
    const reading = readJson(text)
    assert.ok('message' in reading)
    assert.match(reading.message, message)
    assert.deepEqual([reading.line, reading.column], [line, column])
  })
}

test('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (json, indent) => {
      const value: unknown = JSON.parse(json)
      assert.deepEqual(readJson(JSON.stringify(value, null, indent)), { value })
    }),
  )
})

test('says where a value stands, or what should have it', () => {
  const text = '{"a": [1,\n  {"b c": true}],\n "d": null}'
  const places: readonly (readonly [readonly (string | number)[], 'name' | 'value', number, number])[] = [
    [[], 'value', 1, 1],
    [['a'], 'name', 1, 2],
    [['a'], 'value', 1, 7],
    [['a', 1, 'b c'], 'name', 2, 4],
    [['a', 1, 'b c'], 'value', 2, 11],
    [['a', 1, 'missing'], 'value', 2, 3],
    [['d'], 'value', 3, 7],
  ]
  for (const [path, of, line, column] of places)
    assert.deepEqual(placeInJson(text, path, of), { line, column })
})
