import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { bareCall, callStart, chatCall, fullCall } from '../../../test/store/sample-call.ts'
import { endLine, headerLine, parseEnd, parseHeader, parseStart, startLine } from './journal-line.ts'

const text = fc.string({ unit: 'binary' })

test('a call is read back as it was noted, on one line, whatever a client put into it', () => {
  const fields = fc.record({
    endpoint: text,
    model: fc.option(text),
    client: fc.option(text),
    userAgent: fc.option(text),
    session: fc.option(text),
    sessionSource: fc.option(text),
    tags: fc.option(text),
    clientRetry: fc.option(fc.nat()),
    stream: fc.boolean(),
  })
  fc.assert(
    fc.property(fields, (given) => {
      const start = { ...callStart(), ...given }
      const line = startLine(start)
      assert.equal(line.indexOf('\n'), line.length - 1)
      assert.deepEqual(parseStart(line), start)
    }),
  )
})

test('a call that an earlier version noted has neither tags nor what its session was read from', () => {
  const values = JSON.parse(
    startLine({ ...callStart(), session: 's', sessionSource: 'x', tags: 'a:b' }),
  ) as unknown[]
  const earlier = JSON.stringify(values.slice(0, 13))
  assert.deepEqual(parseStart(earlier), { ...callStart(), session: 's' })
})

test('an ended call is read back as it ended', () => {
  for (const call of [chatCall(5), fullCall(6), bareCall(7)]) {
    const line = endLine(call)
    assert.equal(line.indexOf('\n'), line.length - 1)
    assert.deepEqual(parseEnd(line), call)
    assert.equal(parseStart(line), null)
    const text = line.trimEnd()
    for (let length = 0; length < text.length; length += 7)
      assert.equal(parseEnd(text.slice(0, length)), null)
  }
  assert.equal(parseEnd(startLine(callStart())), null)
})

for (const [what, wrong] of [
  ['an id that is none', { id: 1.5 }],
  ['an outcome that is none', { outcome: 'constructor' }],
  ['no type', { callType: null }],
  ['an object in place of a name', { model: {} }],
] as const) {
  test(`an ended call with ${what} is none`, () => {
    const line = endLine(chatCall(5)).replace(/.$/s, '')
    const [mark, call] = JSON.parse(line) as [string, object]
    assert.equal(parseEnd(JSON.stringify([mark, { ...call, ...wrong }])), null)
  })
}

test('no piece of a line is taken for a call', () => {
  const line = startLine(callStart()).trimEnd()
  for (let length = 0; length < line.length; length++) assert.equal(parseStart(line.slice(0, length)), null)
})

for (const line of [
  '{}',
  'null',
  '[]',
  '[1,2,3]',
  startLine(callStart()).replace('"chat"', '"constructor"'),
]) {
  test(`${line.trim()} is no call`, () => assert.equal(parseStart(line), null))
}

test('a header is read back, and nothing else is one', () => {
  const header = { instance: 'a"b', pid: 1, startTicks: 2, bootId: 'c', number: 3 }
  assert.deepEqual(parseHeader(headerLine(header)), header)
  const elsewhere = { ...header, startTicks: null, bootId: null, number: null }
  assert.deepEqual(parseHeader(headerLine(elsewhere)), elsewhere)
  const first = headerLine(elsewhere).replace(',null]', ']')
  assert.deepEqual(parseHeader(first), elsewhere, 'as version 0.1 wrote it')
  for (const line of ['', '[]', '\0\0\0', startLine(callStart())]) assert.equal(parseHeader(line), null)
})
