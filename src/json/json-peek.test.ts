import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { JsonPeek } from './json-peek.ts'
import { parsePiece } from './json-piece.ts'
import { compilePlaces } from './json-place.ts'

const paths = ['a', 'b.c', 'list[]', 'list[].x', 'grid[][].y', '[].z', 'long', 'b', 'é']
const places = compilePlaces(paths.map((path, id) => ({ path, id, limit: path === 'long' ? 8 : 10_000 })))

interface Seen {
  readonly found: readonly (readonly [path: string, value: unknown])[]
  readonly complete: boolean
  readonly notJson: boolean
}

/** What is seen of a text that comes in these pieces; the pieces are spoilt after use, as sockets reuse theirs. */
function peekPieces(pieces: readonly Uint8Array[]): Seen {
  const found: [string, unknown][] = []
  const peek = new JsonPeek(places, {
    value: (id, bytes, start, end) => {
      found.push([paths[id] ?? '?', parsePiece(bytes, start, end)])
    },
    tooLong: (id, firstByte) => {
      found.push([`${paths[id]} too long`, String.fromCharCode(firstByte)])
    },
    close: (id) => {
      found.push([`${paths[id]} closed`, null])
    },
  })
  for (const piece of pieces) {
    const copy = Uint8Array.from(piece)
    peek.push(copy)
    copy.fill(0x22)
  }
  peek.end()
  return { found, complete: peek.complete, notJson: peek.notJson }
}

function peekText(text: string): Seen {
  return peekPieces([Buffer.from(text)])
}

function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}

const cases: readonly [what: string, text: string, found: readonly (readonly [string, unknown])[]][] = [
  ['scalars of every kind', '{"a":null}', [['a', null]]],
  ['a number', '{"a":-1.5e3}', [['a', -1500]]],
  ['a string with escapes', String.raw`{"a":"x\"\\\u00e9\\"}`, [['a', 'x"\\é\\']]],
  ['a whole object', '{"a":{"n":[1,{"a":2}]}}', [['a', { n: [1, { a: 2 }] }]]],
  ['white space everywhere', ' \r\n{ "a"\t:\n1 , "q" : [ ] } \n', [['a', 1]]],
  ['a wanted name elsewhere is not wanted', '{"q":{"a":1},"r":[{"a":2}],"s":"{\\"a\\":3}"}', []],
  ['brackets in strings', '{"q":["]}","[{"],"a":1}', [['a', 1]]],
  [
    'elements, and the end of each that is entered',
    '{"list":[{"x":1},{"y":2},{"x":3}]}',
    [
      ['list[].x', 1],
      ['list[] closed', null],
      ['list[] closed', null],
      ['list[].x', 3],
      ['list[] closed', null],
    ],
  ],
  [
    'elements of another kind',
    '{"list":[4,[5]]}',
    [
      ['list[]', 4],
      ['list[]', [5]],
    ],
  ],
  [
    'an array of arrays',
    '{"grid":[[{"y":1}],[],[{"y":2}]]}',
    [
      ['grid[][].y', 1],
      ['grid[][].y', 2],
    ],
  ],
  ['an array at the top', '[{"z":1},7]', [['[].z', 1]]],
  ['another kind than the place expects', '{"b":[{"c":1}]}', [['b', [{ c: 1 }]]]],
  [
    'both entered and reported',
    '{"b":{"c":1}}',
    [
      ['b.c', 1],
      ['b closed', null],
    ],
  ],
  ['a value over its limit', '{"long":"12345678"}', [['long too long', '"']]],
  ['a container over its limit', '{"long":[1,2,3,4,5,6]}', [['long too long', '[']]],
  ['a value at its limit', '{"long":"123456"}', [['long', '123456']]],
  [
    'every one of duplicate keys, in order: the last is that of JSON.parse',
    '{"a":1,"a":2}',
    [
      ['a', 1],
      ['a', 2],
    ],
  ],
  [
    'a key written with escapes',
    String.raw`{"\u0061":1,"\u00e9":2,"\"a":3}`,
    [
      ['a', 1],
      ['é', 2],
    ],
  ],
  ['a key that only begins or ends like a wanted one', '{"aa":1,"":2,"lon":3,"long_":4}', []],
]

for (const [what, text, found] of cases) {
  test(`finds ${what}`, () => {
    assert.deepEqual(peekText(text), { found, complete: true, notJson: false })
    assert.deepEqual(peekPieces(bytewise(Buffer.from(text))), { found, complete: true, notJson: false })
  })
}

for (const text of ['', '   ', '{', '{"a":1', '[1,', '"abc', '{"a":"x\\"}']) {
  test(`${JSON.stringify(text)} is neither complete nor wrong so far`, () => {
    const { complete, notJson } = peekText(text)
    assert.deepEqual({ complete, notJson }, { complete: false, notJson: false })
  })
}

for (const text of [
  'x',
  '<html>',
  '{a:1}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{"a":1}}',
  '{} {}',
  '{"list":[1}',
  '{"a":,}',
]) {
  test(`${JSON.stringify(text)} is not JSON`, () => assert.equal(peekText(text).notJson, true))
}

test('a number at the top is complete only when the text has ended', () => {
  const peek = new JsonPeek(places, {
    value: () => undefined,
    tooLong: () => undefined,
    close: () => undefined,
  })
  peek.push(Buffer.from('12'))
  assert.equal(peek.complete, false)
  peek.end()
  assert.equal(peek.complete, true)
})

test('what stands before garbage has been reported, and nothing after it', () => {
  const { found } = peekText('{"a":1,,"a":2}')
  assert.deepEqual(found, [['a', 1]])
})

test('depth is only a counter', () => {
  const depth = 2_000_000
  const { found, complete } = peekText(`{"q":${'['.repeat(depth)}${']'.repeat(depth)},"a":1}`)
  assert.deepEqual({ found, complete }, { found: [['a', 1]], complete: true })
})

test('a value begins at the byte that it tells, whatever the chunks', () => {
  const text = Buffer.from('{"é":"ü", "a": {"n":1}}')
  for (const pieces of [[text], bytewise(text)]) {
    const offsets: number[] = []
    const peek = new JsonPeek(places, {
      value: () => offsets.push(peek.valueOffset),
      tooLong: () => undefined,
      close: () => undefined,
    })
    for (const piece of pieces) peek.push(piece)
    assert.deepEqual(offsets, [text.indexOf('"ü'), text.indexOf('{"n')])
  }
})

test('only the part of a chunk that is named is read, and a reset begins anew', () => {
  const found: unknown[] = []
  const peek = new JsonPeek(places, {
    value: (_id, bytes, start, end) => found.push(parsePiece(bytes, start, end)),
    tooLong: () => undefined,
    close: () => undefined,
  })
  const chunk = Buffer.from('{"a":1}{"a":"long string, so that the search is native"}{"a":3')
  peek.push(chunk, 0, 7)
  assert.equal(peek.complete, true)
  peek.reset()
  peek.push(chunk, 56)
  peek.reset()
  peek.push(chunk, 7, 56)
  assert.equal(peek.complete, true)
  assert.deepEqual(found, [1, 'long string, so that the search is native'])
})

const anyJson = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'list', 'x', 'grid', 'long', 'é', '\\"', 'other'),
    fc.oneof(fc.jsonValue(), fc.array(fc.record({ x: fc.jsonValue(), y: fc.string() }))),
  ),
)

test('whatever the JSON and however it is cut, the top-level value is that of JSON.parse', () => {
  fc.assert(
    fc.property(anyJson, fc.boolean(), fc.array(fc.nat(200), { maxLength: 6 }), (json, pretty, cuts) => {
      const bytes = Buffer.from(JSON.stringify(json, null, pretty ? 1 : 0))
      const whole = peekPieces([bytes])
      assert.equal(whole.complete, true)
      const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
      const known = isObject ? Object.entries(json).filter(([key]) => key === 'a') : []
      assert.deepEqual(
        whole.found.filter(([path]) => path === 'a').map(([, value]) => JSON.stringify(value)),
        known.map(([, value]) => JSON.stringify(value)),
      )
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
      assert.deepEqual(peekPieces(pieces), whole)
      assert.deepEqual(peekPieces(bytewise(bytes)), whole)
    }),
    { numRuns: 300 },
  )
})

test('whatever the bytes, nothing is thrown', () => {
  const soup = fc.array(fc.constantFrom(...Array.from('{}[]:,"\\ a1ntfe-.'), 'list', 'x', 'é'), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(soup, (parts) => {
      const bytes = Buffer.from(parts.join(''))
      assert.deepEqual(peekPieces(bytewise(bytes)), peekPieces([bytes]))
    }),
    { numRuns: 2000 },
  )
})
