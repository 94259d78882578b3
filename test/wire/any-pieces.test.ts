import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { meterFormNow } from './meter-form.ts'
import type { WireForm } from './wire-form.ts'
import { draws } from '../support/draws.ts'

for (const form of allWireForms) {
  test(`${form.name}: the same row whole and in single bytes, and a cut answer is told as cut`, () => {
    assert.deepEqual(meterFormNow(form, [form.body]).columns, form.columns)
    assert.deepEqual(meterFormNow(form, splitBytes(form.body, [1])).columns, form.columns)
    const { columns } = meterFormNow(form, [form.body.subarray(0, -1)], { cut: true })
    const failure = 'upstream_reset'
    assert.ok([failure, form.columns.failure_code ?? failure].includes(columns.failure_code ?? ''))
  })
}

test('any form in any pieces', () => {
  const cuts = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 30, size: 'max' })
  fc.assert(
    fc.property(fc.constantFrom(...allWireForms), cuts, (form, sizes) => {
      assert.deepEqual(meterFormNow(form, splitBytes(form.body, sizes)).columns, form.columns)
    }),
    { numRuns: draws(400) },
  )
})

for (const form of allWireForms.filter(({ firstContent }) => firstContent !== null)) {
  test(`${form.name}: the first content is seen in its own event`, () => {
    const { reading } = meterFormNow(form, eventsOf(form))
    assert.deepEqual(
      [reading.ttftMs, reading.ttfoMs],
      form.firstContent!.map((index) => (index === null ? null : index + 1)),
    )
  })
}

/** The forms that ask for tools, by their names. */
const asking: Readonly<Record<string, readonly [count: number, tools: string]>> = {
  'tool calls': [2, 'gauge,note'],
  'Messages, a tool without arguments, whole counts at the end': [1, 'gauge'],
}

test('of all forms, those that ask for tools have them in their row, in any pieces', () => {
  const seen: Record<string, unknown> = {}
  for (const form of allWireForms) {
    const { toolCalls, tools } = meterFormNow(form, [form.body]).reading
    const bytes = meterFormNow(form, splitBytes(form.body, [1])).reading
    assert.deepEqual([bytes.toolCalls, bytes.tools], [toolCalls, tools], form.name)
    const { call_type: type, failure_code: code } = form.columns
    if (toolCalls === null)
      assert.ok(type !== 'chat' || form.status >= 400 || code === 'empty_answer', form.name)
    if (toolCalls !== null && toolCalls > 0) seen[form.name] = [toolCalls, tools]
  }
  assert.deepEqual(seen, asking)
})

test('cut at any byte, none is made up', () => {
  for (const form of allWireForms.filter(({ name }) => name in asking)) {
    const [count, tools] = asking[form.name]!
    for (let at = 0; at < form.body.length; at++) {
      const { reading } = meterFormNow(form, [form.body.subarray(0, at)], { cut: true })
      assert.ok((reading.toolCalls ?? 0) <= count)
      assert.ok(tools.startsWith(reading.tools ?? ''))
    }
  }
})

/** The stream cut behind each event that has data, comments and the like going with the event that follows. */
function eventsOf(form: WireForm): Buffer[] {
  const events = form.body.toString('latin1').split(/(?<=\r\n\r\n|\n\n|\r\r)/)
  const pieces: string[] = []
  let waiting = ''
  for (const event of events) {
    waiting += event
    if (!/^(?:\u00EF\u00BB\u00BF)?data:/m.test(event)) continue
    pieces.push(waiting)
    waiting = ''
  }
  return [...pieces, waiting].map((piece) => Buffer.from(piece, 'latin1'))
}
