import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { JsonScan, type JsonShape, wantedPlaces } from './json-scan.ts'
import { draws } from '../../test/support/draws.ts'

const shape = {
  a: 10_000,
  b: { '': 10_000, c: 10_000 },
  list: { '[]': { '': 10_000, x: 10_000 } },
  grid: { '[]': { '[]': { y: 10_000 } } },
  '[]': { z: 10_000 },
  long: 8,
  é: 10_000,
} as const satisfies JsonShape
const places = wantedPlaces(shape)

/** The value of a text that comes in these pieces, which are spoilt after use, as sockets reuse theirs. */
function scan(pieces: readonly Uint8Array[], wanted = places): unknown {
  const scan = new JsonScan(wanted)
  for (const piece of pieces) {
    const copy = Uint8Array.from(piece)
    scan.push(copy)
    copy.fill(0x22)
  }
  return scan.value
}

function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}

const cases: readonly [what: string, text: string, value: unknown][] = [
  ['scalars of every kind', '{"a":null,"é":true}', { a: null, é: true }],
  ['a number', '{"a":-1.5e3}', { a: -1500 }],
  ['a string with escapes', String.raw`{"a":"x\"\\\u00e9\\"}`, { a: 'x"\\é\\' }],
  ['letters of any script', '{"a":"é水😀"}', { a: 'é水😀' }],
  ['a whole object', '{"a":{"n":[1,{"a":2}]}}', { a: { n: [1, { a: 2 }] } }],
  ['white space everywhere', ' \r\n{ "a"\t:\n1 , "q" : [ ] } \n', { a: 1, q: 0 }],
  ['a wanted name elsewhere', '{"q":{"a":1},"r":[{"a":2}],"s":"{\\"a\\":3}"}', { q: 0, r: 0, s: 0 }],
  ['brackets in strings', '{"q":["]}","[{"],"a":1}', { q: 0, a: 1 }],
  ['elements of several kinds', '{"list":[{"x":1},{"y":2},4,[5]]}', { list: [{ x: 1 }, { y: 0 }, 4, [5]] }],
  ['an array of arrays', '{"grid":[[{"y":1}],[],[{"y":2}]]}', { grid: [[{ y: 1 }], [], [{ y: 2 }]] }],
  ['an array at the top', '[{"z":1},7]', [{ z: 1 }, 0]],
  ['another kind than the shape has', '{"b":[{"c":1}],"grid":{"y":1}}', { b: [{ c: 1 }], grid: 0 }],
  ['a value over its limit', '{"long":"12345678","a":1}', { long: Infinity, a: 1 }],
  ['a container over its limit', '{"long":[1,2,3,4,5,6]}', { long: Infinity }],
  ['a value at its limit', '{"long":"123456"}', { long: '123456' }],
  ['the last of duplicate names', '{"a":1,"a":2}', { a: 2 }],
  ['names in escapes', String.raw`{"\u0061":1,"\u00e9":2,"\"a":3}`, { a: 1, é: 2, '"a': 0 }],
  ['names that only begin or end so', '{"aa":1,"":2,"lon":3,"long_":4}', { aa: 0, '': 0, lon: 0, long_: 0 }],
]

for (const [what, text, value] of cases) {
  test(`reads ${what}, whole and byte by byte`, () => {
    const bytes = Buffer.from(text)
    assert.deepEqual(scan([bytes]), value)
    assert.deepEqual(scan(bytewise(bytes)), value)
  })
}

const broken = ['', '   ', '{', '{"a":1', '[1,', '"abc', '{"a":"x\\"}', 'x', '<html>', '{a:1}', '{"a" 1}']
const alsoBroken = [
  '{"a":1 "b":2}',
  '{"a":1}}',
  '{} {}',
  '{"list":[1}',
  '{"a":,}',
  '{"a":1,,"a":2}',
  '{"a":1,}',
]
for (const text of [...broken, ...alsoBroken, '{"a":nope}', '{"a":01}']) {
  test(`${JSON.stringify(text)} is no JSON`, () => {
    assert.equal(scan([Buffer.from(text)]), undefined)
    assert.equal(scan(bytewise(Buffer.from(text))), undefined)
  })
}

test('lenient names count in any case, and what only lenient parsers read is no fault elsewhere', () => {
  const values: (readonly [string, string | null])[] = []
  const lenient = wantedPlaces({ max_tokens: 20, stream: 20 }, true)
  const scan = new JsonScan(lenient, (path, text) => values.push([path, text]))
  scan.push(Buffer.from('{"t":NaN,"MAX_Tokens":7,"max_toKens":8,"\u017ftream":true,"u":-Infinity}'))
  assert.equal(values.join(' '), 'max_tokens,7 max_tokens,8 stream,true')
  assert.notEqual(scan.value, undefined)
})

test('each value is told with its place, whatever the chunks', () => {
  const bytes = Buffer.from('{"é":"ü", "a": {"n":1},"long":"123456789","list":[ 4]}')
  for (const pieces of [[bytes], bytewise(bytes)]) {
    const events: unknown[] = []
    const scan = new JsonScan(places, (path, text, start, end, isScalar) => {
      events.push([path, text, bytes.toString('utf8', start, end), isScalar])
    })
    for (const piece of pieces) scan.push(piece)
    assert.deepEqual(events, [
      ['é', '"ü"', '"ü"', false],
      ['a', '{"n":1}', '{"n":1}', false],
      ['long', null, '"123456789"', false],
      ['list[]', '4', '4', true],
    ])
  }
})

test('depth is only a counter', () => {
  const depth = 2_000_000
  const text = `{"q":${'['.repeat(depth)}${']'.repeat(depth)},"a":1}`
  assert.deepEqual(scan([Buffer.from(text)]), { q: 0, a: 1 })
})

test('a text without an end takes no memory, and too much that is wanted makes it unreadable', () => {
  const chunk = Buffer.from('"x","y\\"",[1,2],'.repeat(4096))
  const long = new JsonScan(places)
  long.push(Buffer.from('{"q":['))
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 500; i++) long.push(chunk)
  assert.ok(process.memoryUsage().heapUsed - before < 20e6)
  long.push(Buffer.from('0],"a":1}'))
  assert.deepEqual(long.value, { q: 0, a: 1 })
  const much = Buffer.from(`{"list":[${'{"x":"12345"},'.repeat(100_000)}0]}`)
  for (const pieces of [[much], [much.subarray(0, 9), much.subarray(9)]])
    assert.ok(scan(pieces) === undefined)
})

/** The result of a scan: 0 for a value that is not wanted, Infinity for one that is too long. */
function expected(value: unknown, wanted: JsonShape | undefined): unknown {
  if (wanted === undefined) return 0
  const places: Readonly<Record<string, JsonShape>> = typeof wanted === 'number' ? { '': wanted } : wanted
  const { '': own, '[]': element, ...members } = places
  if (Array.isArray(value) && element !== undefined) return value.map((one) => expected(one, element))
  const isEntered = typeof value === 'object' && !Array.isArray(value) && Object.keys(members).length > 0
  if (value !== null && isEntered) {
    const of = (name: string): JsonShape | undefined =>
      Object.hasOwn(members, name) ? members[name] : undefined
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expected(one, of(name))]))
  }
  if (own === undefined) return 0
  return Buffer.byteLength(JSON.stringify(value)) > Number(own) ? Infinity : value
}

const anyJson = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'list', 'x', 'grid', 'long', 'é', '\\"', 'other'),
    fc.oneof(fc.jsonValue(), fc.array(fc.record({ x: fc.jsonValue(), y: fc.string() }))),
  ),
)

test('whatever the JSON and however it is cut, the wanted values are those of JSON.parse', () => {
  fc.assert(
    fc.property(anyJson, fc.array(fc.nat(200), { maxLength: 6 }), (json, cuts) => {
      const bytes = Buffer.from(JSON.stringify(json))
      const parsed = JSON.parse(bytes.toString()) as unknown
      fc.pre(typeof parsed === 'object' && parsed !== null)
      const value = expected(parsed, shape)
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      assert.deepEqual(scan(at.slice(1).map((end, i) => bytes.subarray(at[i], end))), value)
      assert.deepEqual(scan(bytewise(bytes)), value)
    }),
    { numRuns: draws(500) },
  )
})

test('whatever the bytes, nothing is thrown', () => {
  const soup = fc.array(fc.constantFrom(...Array.from('{}[]:,"\\ a1ntfe-.'), 'list', 'x', 'é'), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(soup, (parts) => {
      const bytes = Buffer.from(parts.join(''))
      assert.deepEqual(scan(bytewise(bytes)), scan([bytes]))
    }),
    { numRuns: draws(2000) },
  )
})
