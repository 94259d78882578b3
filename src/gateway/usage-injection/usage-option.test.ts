import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RequestPeek } from '../http/request-peek.ts'
import { spliceUsageOption } from './usage-injection.ts'

/** The chunks afterwards; `null` where they are left as they are. */
function spliceAll(chunks: readonly Uint8Array[]): string | null {
  const peek = new RequestPeek()
  for (const chunk of chunks) peek.push(chunk)
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const spliced = spliceUsageOption(chunks, bytes, peek.result())
  if (spliced === null) return null
  const body = Buffer.concat(spliced.body)
  assert.equal(spliced.bodyBytes, body.length)
  assert.ok(spliced.body.length <= chunks.length, 'no further pieces')
  return body.toString()
}

const cases: readonly [body: string, expected: string | null][] = [
  ['{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
  [' \n{ "stream" : true }\n', ' \n{"stream_options":{"include_usage":true}, "stream" : true }\n'],
  ['{"stream":true,"stream_options":{}}', '{"stream":true,"stream_options":{"include_usage":true}}'],
  ['{"stream":true,"stream_options":{ \n}}', '{"stream":true,"stream_options":{"include_usage":true \n}}'],
  [
    '{"stream":true,"stream_options":{"include_obfuscation":false}}',
    '{"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
  ],
  [
    '{"stream_options" : null , "stream":true}',
    '{"stream_options" : {"include_usage":true} , "stream":true}',
  ],
  ['{"stream":true,"stream_options":"yes"}', null],
  ['{"stream":true,"stream_options":[]}', null],
  ['{"stream":true,"stream_options":7}', null],
]

for (const [body, expected] of cases) {
  test(`asks in ${JSON.stringify(body)}, wherever the chunks end`, () => {
    const bytes = Buffer.from(body)
    assert.equal(spliceAll([bytes]), expected)
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.equal(spliceAll([bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`)
    }
    assert.equal(spliceAll(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected, 'byte by byte')
  })
}

test('any body says the same with the wish in it, and is the same without it', () => {
  const options = fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.dictionary(
      fc.string().filter((key) => key !== '__proto__' && key !== 'include_usage'),
      // As JSON tells it: there is no -0.
      fc.json().map((text): unknown => JSON.parse(text)),
      { size: 'small' },
    ),
  )
  const cuts = fc.array(fc.nat(300), { maxLength: 5 })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), options, fc.nat(2), cuts, (content, value, indent, at) => {
      const request = {
        messages: [{ role: 'user', content }],
        ...(value === undefined ? {} : { stream_options: value }),
        stream: true,
      }
      const bytes = Buffer.from(JSON.stringify(request, null, indent))
      const edges = [0, ...at.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
      const text = spliceAll(chunks)
      assert.ok(text !== null)
      assert.deepEqual(JSON.parse(text), { ...request, stream_options: { include_usage: true, ...value } })
      const pieces = [
        ['"stream_options":{"include_usage":true},', ''],
        ['"include_usage":true,', ''],
        ['"include_usage":true', ''],
        ['{"include_usage":true}', 'null'],
      ] as const
      assert.ok(pieces.some(([piece, was]) => text.replace(piece, was) === bytes.toString()))
    }),
  )
})
