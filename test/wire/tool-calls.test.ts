import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { meterFormNow } from './meter-form.ts'

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
