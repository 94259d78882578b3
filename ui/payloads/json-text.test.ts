import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { indentedJson, jsonPieces, memberText } from './json-text.ts'

test('a member is found as it was written', () => {
  const text = '{"id":"a","n":1e400,"body": {"b":[1,{"body":"]}\\"\\\\"}],"body":0.10} ,"x":null,"n" : 0.10 }'
  assert.equal(memberText(text, 'id'), '"a"')
  assert.equal(memberText(text, 'body'), '{"b":[1,{"body":"]}\\"\\\\"}],"body":0.10}')
  assert.equal(memberText(text, 'n'), '0.10')
  assert.equal(memberText(text, 'b'), null)
  assert.equal(memberText('{}', 'b'), null)
  assert.equal(memberText('[1]', 'b'), null)
  assert.equal(memberText('{"a":[1,2', 'a'), '[1,2')
})

test('members of any object are found', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (object, space) => {
      const text = JSON.stringify(object, null, space)
      for (const [name, value] of Object.entries(object)) {
        assert.deepEqual(JSON.parse(memberText(text, name) ?? ''), JSON.parse(JSON.stringify(value)))
      }
    }),
  )
})

test('JSON is indented as JSON.stringify does it, and nothing in it is changed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(4), (value, space) => {
      assert.equal(indentedJson(JSON.stringify(value, null, space)), JSON.stringify(value, null, 2))
    }),
  )
  const odd = '{"a":1e400,"a":0.10,"b":12345678901234567890,"c":"\\u0041\\/"}'
  assert.equal(
    indentedJson(odd),
    '{\n  "a": 1e400,\n  "a": 0.10,\n  "b": 12345678901234567890,\n  "c": "\\u0041\\/"\n}',
  )
})

test('a text that is cut, or no JSON at all, loses nothing but space', () => {
  const bare = (text: string): string => text.replaceAll(/[ \n\r\t]/g, '')
  const bits = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n', 'a', '1', 'é')
  fc.assert(
    fc.property(fc.string({ unit: bits, size: 'medium' }), (text) => {
      assert.equal(bare(indentedJson(text)), bare(text))
      memberText(text, 'a')
    }),
  )
})

test('pieces have their kinds, and come to the text again, whatever it is', () => {
  const text = '{"a": "b:\\"c", "n": [-1.5e3, true, null, {}], "deep": {"": 0}} "cut'
  const pieces = jsonPieces(text)
  assert.equal(pieces.map(({ text }) => text).join(''), text)
  assert.deepEqual(
    pieces.filter(({ kind }) => kind !== 'plain').map(({ kind, text }) => `${kind} ${text}`),
    [
      'key "a"',
      'string "b:\\"c"',
      'key "n"',
      'number -1.5e3',
      'literal true',
      'literal null',
      'key "deep"',
      'key ""',
      'number 0',
      'string "cut',
    ],
  )
  for (const odd of ['', ':', '":', '"a":', 'no json', '{"a" : 1}', '::"x"::']) {
    assert.equal(
      jsonPieces(odd)
        .map(({ text }) => text)
        .join(''),
      odd,
    )
  }
})
