import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { sseComment, sseEvent, sseRetry } from './sse-frame.ts'
import { type SseEvent, SseReader } from './sse-reader.ts'

function read(...texts: readonly string[]): readonly SseEvent[] {
  const events: SseEvent[] = []
  const reader = new SseReader((event) => events.push(event))
  for (const text of texts) reader.add(text)
  return events
}

test('what is no event is passed over, and an unfinished one is not told', () => {
  assert.deepEqual(read(`${sseRetry(2000)}${sseComment}id: 4\n\ndata: a\n\nevent: x\ndata: b\n`), [
    { name: null, id: null, data: 'a' },
  ])
})

test('lines may end in CRLF, and a field may stand without a space or a value', () => {
  assert.deepEqual(read('id:7\r\nevent: e\r\ndata:a\r\ndata\r\ndata:  b\r\n\r\n'), [
    { name: 'e', id: '7', data: 'a\n\n b' },
  ])
})

test('what is written is read again, however it comes in pieces', () => {
  const word = fc.constantFrom('started', 'x', 'a:b')
  const event = fc.record(
    {
      name: fc.option(word),
      id: fc.option(fc.nat().map(String)),
      data: fc.string({ unit: fc.constantFrom('a', ':', ' ', '\n', 'é', '{"b":1}', '\u2028') }),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(
      fc.array(event, { size: 'max', maxLength: 8 }),
      fc.array(fc.nat(60), { size: 'max', maxLength: 40 }),
      (events, lengths) => {
        let rest = events
          .map(({ name, id, data }) => sseEvent(name, data, id ?? undefined) + sseComment)
          .join('')
        const pieces = lengths.map((length) => {
          const piece = rest.slice(0, length)
          rest = rest.slice(length)
          return piece
        })
        assert.deepEqual(read(...pieces, rest), events)
      },
    ),
  )
})
