import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerEvents } from './answer-events.ts'
import { heldMegabytes } from '../../../test/support/held-memory.ts'

interface Read {
  readonly events: readonly string[]
  readonly hasSkipped: boolean
}

/**
 * Events as text; `!` before those named `error`, `error: ` before the field of that name, `long: ` before those that are
 * too long.
 */
function read(chunks: readonly Uint8Array[]): Read {
  const events: string[] = []
  const reader = new AnswerEvents({
    event: (data, isError) => {
      events.push((isError ? '!' : '') + data)
      return 'none'
    },
    parsedEvent: (value) => {
      events.push(`long: ${JSON.stringify(value)}`)
      return 'none'
    },
    errorField: (value) => {
      events.push(`error: ${value}`)
    },
  })
  for (const chunk of chunks) {
    const copy = Uint8Array.from(chunk)
    reader.push(copy, 1)
    copy.fill(0x0a)
  }
  reader.finish()
  return { events, hasSkipped: reader.hasSkipped }
}

const separators = 'a\u2028b\u0085c\u2029d\u000Be'
const cases: readonly [what: string, stream: string, events: readonly string[]][] = [
  ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['mixed line ends', 'data: a\n\r\ndata: b\r\n\rdata: c\r\n\n', ['a', 'b', 'c']],
  ['a byte order mark', '\uFEFFdata: a\n\n', ['a']],
  ['a mark that is not at the start', '\n\uFEFFdata: a\n\ndata: b\n\n', ['b']],
  ['no space, or two', 'data:a\n\ndata:  b\n\n', ['a', ' b']],
  ['lines of data', 'data: {\ndata:\ndata: }\n\n', ['{\n\n}']],
  ['data without a value', 'data\n\ndata:\n\n', ['', '']],
  ['comments', ': hello\n\n:\n\ndata: a\n: in between\n\n', ['a']],
  ['other fields', 'id: 7\nretry: 3000\nevent: x\ndata: a\ndatum: b\ndat\n\n', ['a']],
  ['fields without data', 'event: error\n\nid: 1\n\ndata: a\n\n', ['a']],
  ['errors by name', 'event: error\ndata: a\n\ndata: b\n\n', ['!a', 'b']],
  ['names that are nearly error', 'event: errors\ndata: a\n\nevent: erro\ndata: b\n\n', ['a', 'b']],
  ['the field called error', 'error: {"code":500}\n\ndata: a\n\n', ['error: {"code":500}', 'a']],
  ['separators that are none here', `data: ${separators}\n\n`, [separators]],
  ['letters of several bytes', 'data: é水😀\n\n', ['é水😀']],
  ['an end without a blank line', 'data: a\n\ndata: b\n', ['a', 'b']],
  ['an end without a line end', 'data: a\n\ndata: b', ['a', 'b']],
  ['an end within lines of data', 'data: a\ndata: b', ['a\nb']],
  ['nothing', '', []],
]

for (const [what, stream, events] of cases) {
  test(`${what}: the same events whole, in single bytes, and cut anywhere`, () => {
    const bytes = Buffer.from(stream)
    const expected = { events, hasSkipped: false }
    assert.deepEqual(read([bytes]), expected)
    assert.deepEqual(read(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected)
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(read([bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`)
    }
  })
}

function inPieces(stream: string, size: number): Buffer[] {
  const bytes = Buffer.from(stream)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}

for (const lineEnd of ['\n', '\r\n', '\r']) {
  test(`of an event that is too long the wanted places are read (${JSON.stringify(lineEnd)})`, () => {
    const usage = { input_tokens: 3 }
    const long = { type: 'response.completed', response: { image: 'é'.repeat(1_000_000), usage } }
    const end = lineEnd + lineEnd
    const stream = `data: a${end}event: x${lineEnd}data: ${JSON.stringify(long)}${end}data: b${end}`
    for (const size of [65_536, 65_537, 99_991]) {
      const { events, hasSkipped } = read(inPieces(stream, size))
      const value = JSON.stringify({ type: 'response.completed', response: { image: 0, usage } })
      assert.deepEqual([events, hasSkipped], [['a', `long: ${value}`, 'b'], false])
    }
  })
}

test('a long event that the body ends is read, too', () => {
  const stream = `data: {"q":"${'x'.repeat(1_000_000)}","model":"m"}`
  assert.deepEqual(read(inPieces(stream, 65_536)).events, ['long: {"q":0,"model":"m"}'])
})

test('neither a line without an end nor data of endless lines takes memory, and what was skipped is known', () => {
  for (const [begin, chunk, hasSkipped] of [
    ['data: {"q":"', 'x'.repeat(65_536), false],
    [': ', 'x'.repeat(65_536), false],
    ['', 'data: xxxxxxxxxxxxxx\n'.repeat(3000), true],
    ['', ': beat\n\n'.repeat(8000), false],
  ] as const) {
    const reader = new AnswerEvents({ event: () => 'none', parsedEvent: () => 'none', errorField: () => {} })
    const usedMegabytes = heldMegabytes(() => {
      reader.push(Buffer.from(begin), 1)
      for (let i = 0; i < 300; i++) reader.push(Buffer.from(chunk), 1)
      return reader
    })
    // Twenty times as much has come.
    assert.ok(usedMegabytes < 1, `${begin}: ${usedMegabytes} MB`)
    assert.equal(reader.hasSkipped, hasSkipped)
  }
})
