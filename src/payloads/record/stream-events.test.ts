import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamEvents, streamForm } from './stream-events.ts'

test('events are read whatever their line ends and their other fields', () => {
  const text =
    ': comment\n\nevent: x\nid: 1\ndata: {"a":1}\n\ndata:{"a":2}\r\n\r\ndata: {"a":\rdata: 3}\r\rdata: [DONE]\n\n'
  assert.deepEqual(streamEvents(text, 'events'), { objects: [{ a: 1 }, { a: 2 }, { a: 3 }], others: '' })
})

test('an event without its blank line counts where it is whole, and not where it is cut', () => {
  assert.deepEqual(streamEvents('data: {"a":1}\n\ndata: {"a":2}', 'events').objects, [{ a: 1 }, { a: 2 }])
  assert.deepEqual(streamEvents('data: {"a":1}\n\ndata: {"a":', 'events').objects, [{ a: 1 }])
})

test('of JSON lines each is an event', () => {
  assert.deepEqual(streamEvents('{"a":1}\n{"a":2}\n[3]\n{"a":', 'lines').objects, [{ a: 1 }, { a: 2 }])
})

test('plain text and strings are joined', () => {
  assert.equal(
    streamEvents('data: Hel\n\ndata: "lo"\n\ndata: 5\n\ndata: [DONE]\n\n', 'events').others,
    'Hello5',
  )
})

test('a stream is known by its type, or by how it begins', () => {
  assert.equal(streamForm('text/event-stream; charset=utf-8', ''), 'events')
  assert.equal(streamForm('application/x-ndjson', ''), 'lines')
  for (const text of ['data: x\n\n', ': ping\n\n', '\n\nevent: x\ndata: y\n\n']) {
    assert.equal(streamForm('text/plain', text), 'events')
  }
  assert.equal(streamForm('application/json', '{"a":1}\n{"b":2}\n'), 'lines')
  for (const text of ['', 'database: x', '<html>', '{"a":', 'date: today']) {
    assert.equal(streamForm('text/plain', text), null)
  }
})
