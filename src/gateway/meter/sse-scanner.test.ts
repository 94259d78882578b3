import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SseScanner } from './sse-scanner.ts'

interface Scanned {
  readonly events: readonly string[]
  readonly skipped: number
}

/** Events as text; `!` before those named `error`, `error: ` before the field of that name. */
function scan(chunks: readonly Uint8Array[], eventLimit?: number): Scanned {
  const events: string[] = []
  const scanner = new SseScanner(
    {
      event: (bytes, start, end, isError) => {
        events.push((isError ? '!' : '') + bytes.toString('utf8', start, end))
      },
      errorField: (bytes, start, end) => {
        events.push(`error: ${bytes.toString('utf8', start, end)}`)
      },
    },
    eventLimit,
  )
  for (const chunk of chunks) {
    const copy = Uint8Array.from(chunk)
    scanner.push(copy)
    copy.fill(0x0a)
  }
  scanner.finish()
  return { events, skipped: scanner.skippedEvents }
}

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
  [
    'separators that are none here',
    'data: a\u2028b\u0085c\u2029d\u000Be\n\n',
    ['a\u2028b\u0085c\u2029d\u000Be'],
  ],
  ['an end without a blank line', 'data: a\n\ndata: b\n', ['a', 'b']],
  ['an end without a line end', 'data: a\n\ndata: b', ['a', 'b']],
  ['an end within lines of data', 'data: a\ndata: b', ['a\nb']],
  ['nothing', '', []],
]

for (const [what, stream, events] of cases) {
  test(`${what}: the same events whole, in single bytes, and cut anywhere`, () => {
    const bytes = Buffer.from(stream)
    const expected = { events, skipped: 0 }
    assert.deepEqual(scan([bytes]), expected)
    assert.deepEqual(scan(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected)
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(scan([bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`)
    }
  })
}

test('an event within one chunk is handed on where it stands', () => {
  const chunk = Buffer.from('data: a\n\ndata: bc\n\n')
  const places: [boolean, number, number][] = []
  const scanner = new SseScanner({
    event: (bytes, start, end) => places.push([bytes === chunk, start, end]),
    errorField: () => undefined,
  })
  scanner.push(chunk)
  assert.deepEqual(places, [
    [true, 6, 7],
    [true, 15, 17],
  ])
})

for (const [what, long] of [
  ['in one line', `data: ${'x'.repeat(200)}\n\n`],
  ['in many lines', `data: ${'x'.repeat(40)}\n`.repeat(5) + '\n'],
] as const) {
  test(`an event over the limit ${what} is skipped and counted, and those around it are not`, () => {
    const bytes = Buffer.from(`data: a\n\n${long}data: b\n\n`)
    const expected = { events: ['a', 'b'], skipped: 1 }
    assert.deepEqual(scan([bytes], 100), expected)
    assert.deepEqual(
      scan(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        100,
      ),
      expected,
    )
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(scan([bytes.subarray(0, cut), bytes.subarray(cut)], 100), expected, `cut at ${cut}`)
    }
  })
}
