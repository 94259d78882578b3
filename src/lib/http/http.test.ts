import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as fc from 'fast-check'
import { sseComment, sseEvent, sseRetry } from './http.ts'

const cases: readonly [what: string, frame: string, bytes: string][] = [
  ['a named event', sseEvent('log', '{"a":1}'), 'event: log\ndata: {"a":1}\n\n'],
  ['an unnamed event with an id', sseEvent(null, 'x', '7'), 'id: 7\ndata: x\n\n'],
  ['empty data', sseEvent('log', ''), 'event: log\ndata: \n\n'],
  [
    'every kind of line break in the data',
    sseEvent('a', '1\n2\r3\r\n\r\nevent: b'),
    'event: a\ndata: 1\ndata: 2\ndata: 3\ndata: \ndata: event: b\n\n',
  ],
  ['the wait before connecting again', sseRetry(2000), 'retry: 2000\n\n'],
  ['a comment', sseComment, ':\n\n'],
]

for (const [what, frame, bytes] of cases) {
  test(`${what} as it goes over the wire`, () => assert.equal(frame, bytes))
}

test('what is written is read again, however it comes in pieces', () => {
  const event = fc.record(
    {
      event: fc.constantFrom(undefined, 'started', 'x', 'a:b'),
      id: fc.option(fc.nat().map(String), { nil: undefined }),
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
          .map(({ event: name, id, data }) => sseEvent(name ?? null, data, id) + sseComment)
          .join('')
        const read: EventSourceMessage[] = []
        const parser = createParser({ onEvent: (message) => read.push(message) })
        for (const length of lengths) {
          parser.feed(rest.slice(0, length))
          rest = rest.slice(length)
        }
        parser.feed(rest)
        assert.deepEqual(read, events)
      },
    ),
  )
})
