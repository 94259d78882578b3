import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { meterFormNow } from './meter-form.ts'
import type { WireForm } from './wire-form.ts'

for (const form of allWireForms) {
  test(`${form.name}: the same row whole, in single bytes, and split at every byte`, () => {
    assert.deepEqual(meterFormNow(form, [form.body]).columns, form.columns)
    assert.deepEqual(meterFormNow(form, splitBytes(form.body, [1])).columns, form.columns)
    for (let at = 1; at < form.body.length; at++) {
      const pieces = [form.body.subarray(0, at), form.body.subarray(at)]
      assert.deepEqual(meterFormNow(form, pieces).columns, form.columns, `split at ${at}`)
    }
  })

  test(`${form.name}: cut at every byte, it is told as cut, and no number is made up`, () => {
    for (let at = 0; at < form.body.length; at++) {
      const { columns } = meterFormNow(form, [form.body.subarray(0, at)], { cut: true })
      const { outcome, failure_code } = columns
      if (failure_code === 'stream_error') assert.equal(form.columns.failure_code, 'stream_error')
      else assert.deepEqual([outcome, failure_code], ['upstream_cut', 'upstream_reset'], `cut at ${at}`)
      assertHonest(form, columns, `cut at ${at}`)
    }
  })
}

test('any form in any pieces', () => {
  const cuts = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 30, size: 'max' })
  fc.assert(
    fc.property(fc.constantFrom(...allWireForms), cuts, (form, sizes) => {
      assert.deepEqual(meterFormNow(form, splitBytes(form.body, sizes)).columns, form.columns)
    }),
    { numRuns: 400 },
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

/** Counts are the final ones, those of an earlier event, or not there at all. */
function assertHonest(form: WireForm, columns: WireForm['columns'], what: string): void {
  const { input_tokens, output_tokens } = columns
  const counts = [[form.columns.input_tokens, form.columns.output_tokens], ...form.earlier, [null, null]]
  const known = counts.some(([input, output]) => input === input_tokens && output === output_tokens)
  assert.ok(known, `${what}: ${input_tokens} and ${output_tokens}`)
  for (const name of ['search_units', 'cost_usd', 'upstream_queue_ms', 'upstream_prompt_ms'] as const) {
    assert.ok(columns[name] === null || columns[name] === form.columns[name], `${what}: ${name}`)
  }
}
