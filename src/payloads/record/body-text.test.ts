import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { type BodyReading, readBody } from './body-text.ts'
import { assertWithin } from '../../../test/support/assert-within.ts'

const key = 'sk-proj-abcdEFGH1234ijklMNOP'
const plain: BodyReading = { contentEncoding: null, maxBytes: 100_000, isCutOff: false, isStream: false }

function read(
  bytes: string | Buffer,
  reading: Partial<BodyReading> = {},
  truncated = false,
): ReturnType<typeof readBody> {
  const kept = Buffer.from(bytes)
  return readBody({ bytes: kept, totalBytes: kept.length, truncated }, { ...plain, ...reading })
}

for (const json of [
  '{"a":1e400,"b":0.10,"c":12345678901234567890,"b":2}',
  '{"__proto__":{"x":1},"constructor":null}',
  '[1,2,{"é":"\\u00e9 \u2028"}]',
  '"text"',
  '0',
  'null',
  '{"html":"\\u003cb\\u003e","slash":"\\/"}',
]) {
  test(`${json} is kept as it was written`, () => {
    assert.equal(read(json).json, json)
  })
}

test('line breaks between the parts of JSON become spaces, and a byte order mark is no part of the text', () => {
  assert.equal(read('\r\n\n{\n  "a": "b\\n",\r\n  "c": 1\n}\n').json, ' {   "a": "b\\n",   "c": 1 } ')
  assert.equal(read('\ufeff{"a":1}').json, '{"a":1}')
})

test('what is no JSON is kept as text', () => {
  assert.equal(read('plain\ntext').json, '"plain\\ntext"')
  assert.equal(read('{"a":').json, '"{\\"a\\":"')
  assert.equal(read('{"a":1}{"b":2}').json, '"{\\"a\\":1}{\\"b\\":2}"')
})

test('JSON that came whole is JSON, whatever became of its call', () => {
  assert.equal(read('{"error":{"message":"no"}}', { isCutOff: true }).json, '{"error":{"message":"no"}}')
  assert.equal(read('12', {}, true).json, '"12"')
})

test('a credential in text of two bytes a character withholds the body', () => {
  for (const text of [Buffer.from(`key ${key}`, 'utf16le'), Buffer.from(`key ${key}`, 'utf16le').swap16()]) {
    assert.equal(read(text).json, 'null')
    assert.equal(read(Buffer.concat([Buffer.from([0xff]), text])).json, 'null')
  }
  assert.notEqual(read(Buffer.from('no key', 'utf16le')).json, 'null')
})

test('JSON that is too deep for many a reader is kept as text', () => {
  assert.equal(read('['.repeat(200) + ']'.repeat(200)).json.charAt(0), '[')
  assert.equal(read('['.repeat(201) + ']'.repeat(201)).json.charAt(0), '"')
  assert.equal(read(`["${'['.repeat(500)}\\"${'['.repeat(500)}"]`).json.charAt(0), '[')
})

test('no body is null', () => {
  const none = readBody({ bytes: Buffer.alloc(0), totalBytes: 0, truncated: false }, plain)
  assert.deepEqual(none, { json: 'null', encoding: null, withheld: null, truncated: false, text: null })
})

test('bytes that are no text are base64, without the credential between them', () => {
  const bytes = Buffer.from(`\xff\0\xfe"key" ${key}\r\n\xff`, 'latin1')
  const { json, encoding } = read(bytes)
  assert.equal(encoding, 'base64')
  const decoded = Buffer.from(JSON.parse(json) as string, 'base64')
  assert.equal(decoded.indexOf('sk-proj'), -1)
  assert.deepEqual(decoded.subarray(0, 3), bytes.subarray(0, 3))
  const clean = Buffer.from([0xff, 0x41, 0xd8])
  assert.equal(read(clean).json, `"${clean.toString('base64')}"`)
})

test('a character that a cut split is left out, and not taken for bytes', () => {
  const text = 'é€𐍈é€𐍈'
  const bytes = Buffer.from(text)
  for (let length = 1; length < bytes.length; length++) {
    const { json, encoding } = read(bytes.subarray(0, length), {}, true)
    assert.equal(encoding, null)
    assert.ok(text.startsWith(JSON.parse(json) as string))
  }
})

test('what a cut left of a credential is masked', () => {
  for (let length = 14; length < 60; length++) {
    const text = `{"content":"use ${key}`.slice(0, length)
    for (const { json } of [read(text, {}, true), read(text, { isCutOff: true }), read(text)]) {
      assert.ok(!json.includes('sk-p'), json)
    }
  }
})

const codings: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['deflate', zlib.deflateRawSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
]
const document = JSON.stringify({ text: `key ${key} `, filler: 'The quick brown fox. '.repeat(200) })

for (const [name, encode] of codings) {
  test(`a body in ${name} (${encode.name}) is decoded, whole or cut`, () => {
    const coded = encode(Buffer.from(document))
    assert.equal(read(coded, { contentEncoding: name }).json, document.replace(key, '[secret]'))
    for (let length = 1; length < coded.length; length += 7) {
      const { json, truncated } = read(
        coded.subarray(0, length),
        { contentEncoding: name.toUpperCase() },
        true,
      )
      assert.ok(truncated)
      assert.ok(!json.includes('sk-p'), json)
    }
    // Zstandard gives nothing of a block that is not whole, and this is one.
    if (name === 'zstd') return
    const half = read(coded.subarray(0, coded.length - 8), { contentEncoding: name }, true)
    assert.match(half.json, /^"\{\\"text\\":\\"key \[secret\]/)
  })

  test(`a bomb in ${name} (${encode.name}) costs its limit, and shows its beginning`, () => {
    const bomb = encode(Buffer.alloc(10_000_000, 'a'))
    const begun = performance.now()
    const { json, truncated } = read(bomb, { contentEncoding: name })
    assertWithin(400, performance.now() - begun, 'the body')
    assert.ok(truncated)
    assert.ok(json.length <= 100_002)
    assert.match(json, /^"a*"$/)
  })
}

test('of a cut body in zstd the whole blocks are shown', () => {
  const text = Array.from({ length: 60_000 }, (_, i) => `${i * 7919} `).join('')
  const coded = zlib.zstdCompressSync(Buffer.from(text))
  const reading = { contentEncoding: 'zstd', maxBytes: 2 ** 20 }
  assert.ok(read(coded.subarray(0, coded.length - 8), reading, true).json.length > 100_000)
})

test('of a bomb at least half of the limit is shown', () => {
  const { json } = read(zlib.gzipSync(Buffer.alloc(5_000_000, 'text ')), { contentEncoding: 'gzip' })
  assert.ok(json.length > 50_000)
})

test('codings in a row are undone from the last to the first', () => {
  const coded = zlib.brotliCompressSync(zlib.gzipSync(Buffer.from('{"a":1}')))
  assert.equal(read(coded, { contentEncoding: 'gzip, br' }).json, '{"a":1}')
  assert.equal(read('{"a":1}', { contentEncoding: 'identity' }).json, '{"a":1}')
})

test('a body whose coding cannot be undone is withheld, as a reader might', () => {
  const coded = zlib.gzipSync(Buffer.from(document))
  const broken = Buffer.from(coded)
  broken[broken.length - 5] = (broken.at(-5) ?? 0) ^ 1
  for (const body of [
    read(broken, { contentEncoding: 'gzip' }),
    read(coded, { contentEncoding: 'compress' }),
    read(coded, { contentEncoding: 'gzip, gzip, gzip, gzip' }),
  ]) {
    assert.equal(body.json, 'null')
    assert.match(body.withheld ?? '', /coding/)
  }
})

test('a body that is said to be coded and is plain is shown', () => {
  assert.equal(read('{"a":1}', { contentEncoding: 'gzip' }).json, '{"a":1}')
})

test('a credential whose pieces stand among log probabilities withholds the body', () => {
  const tokens = ['sk-', 'proj-'].map((token) => ({ token, logprob: -0.1 }))
  const body = read(JSON.stringify({ content: key, logprobs: { content: tokens } }))
  assert.equal(body.json, 'null')
  assert.match(body.withheld ?? '', /log probabilities/)
})
