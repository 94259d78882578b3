import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FormPeek, boundaryOf } from './form-peek.ts'

const boundary = '----WebKitFormBoundary7MA4YWxk'

function form(...parts: readonly (readonly [head: string, body: string | Uint8Array])[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([head, body]) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

function peek(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
): readonly [string | null, boolean, string | null] {
  const reader = new FormPeek(boundary)
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    reader.push(bytes.subarray(from, cut))
    from = cut
  }
  const { model, stream, user } = reader.result()
  return [model, stream, user]
}

const file = [
  'name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
  Buffer.alloc(9000, '\r\n--x'),
] as const
const cases: readonly (readonly [string, Buffer, string | null, boolean?])[] = [
  ['the model first', form(['name="model"', 'whisper-1'], file), 'whisper-1'],
  ['the model behind the file', form(file, ['name="model"', 'whisper-1']), 'whisper-1'],
  ['a stream', form(['name="stream"', 'true'], file, ['name=model', 'gpt-4o-ü']), 'gpt-4o-ü', true],
  ['a part with headers of its own', form(['name="model"\r\nContent-Type: text/plain', 'm']), 'm'],
  ['a file that is called model', form(['name="model"; filename="model"', 'no'], file), null],
  ['a file that looks like a field', form([file[0], 'name="model"\r\n\r\nno'], ['name="x"', '']), null],
  ['two: the first', form(['name="model"', 'a'], ['name="model"', 'b']), 'a'],
  ['a name that is too long', form(['name="model"', 'x'.repeat(600)], ['name="user"', 'u']), null],
  ['behind the end', Buffer.concat([form(file), form(['name="model"', 'no'])]), null],
]

for (const [what, bytes, model, stream = false] of cases) {
  test(`a form: ${what}, whole and cut at every byte`, () => {
    assert.deepEqual(peek(bytes).slice(0, 2), [model, stream])
    const inOnePiece = peek(bytes)
    for (let cut = 0; cut <= bytes.length; cut++)
      assert.deepEqual(peek(bytes, [cut]), inOnePiece, `cut at ${cut}`)
  })
}

test('a form in pieces of any sizes says what it says as a whole', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.array(fc.integer({ min: 0, max: 10_000 })),
      ([, bytes], cuts) => {
        const sorted = cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b)
        assert.deepEqual(peek(bytes, sorted), peek(bytes))
      },
    ),
  )
  for (const [, bytes] of cases) {
    assert.deepEqual(peek(bytes, Array.from(bytes.keys())), peek(bytes), 'byte by byte')
  }
})

test('the boundary is read as it stands', () => {
  assert.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  assert.equal(boundaryOf('Multipart/Form-Data; charset=utf-8; Boundary="a b;c"'), 'a b;c')
  for (const other of [null, 'application/json', 'multipart/form-data', 'multipart/mixed; boundary=x'])
    assert.equal(boundaryOf(other), null)
})
