/** Every form split and cut at every byte, and in every coding. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { testedCodings } from './content-codings.ts'
import { meterForm, meterFormNow } from './meter-form.ts'
import type { WireForm } from './wire-form.ts'

/** Each place in a body; of padding, which one form has by the hundred kilobytes, each 5,003rd. */
function placesIn({ length }: Buffer): number[] {
  const isNearAnEnd = (at: number): boolean => Math.min(at, length - at) < 2000
  return Array.from({ length }, (_, at) => at).filter((at) => isNearAnEnd(at) || at % 5003 === 0)
}

for (const form of allWireForms) {
  test(`${form.name}: the same row, split at every byte; cut there, it is told as cut, and no number is made up`, () => {
    for (const at of placesIn(form.body)) {
      const pieces = [form.body.subarray(0, at), form.body.subarray(at)]
      assert.deepEqual(meterFormNow(form, pieces).columns, form.columns, `split at ${at}`)
      const { columns } = meterFormNow(form, [pieces[0]!], { cut: true })
      const { outcome, failure_code } = columns
      if (failure_code === 'stream_error') assert.equal(form.columns.failure_code, 'stream_error')
      else assert.deepEqual([outcome, failure_code], ['upstream_cut', 'upstream_reset'], `cut at ${at}`)
      assertHonest(form, columns, `cut at ${at}`)
    }
  })
}

const twoForms = allWireForms.filter(({ name }) =>
  ['vLLM, cumulative usage in every chunk, metrics at the end', 'chat of OpenAI'].includes(name),
)

for (const coding of testedCodings) {
  const headers = ['Content-Encoding', coding.header]

  test(`every form in ${coding.name} gives the row that it gives without`, async () => {
    for (const form of allWireForms) {
      const encoded = coding.encode(form.body)
      for (const sizes of [[encoded.length || 1], [1], [3, 50, 7]]) {
        const { columns } = await meterForm(form, splitBytes(encoded, sizes), { headers })
        assert.deepEqual(columns, form.columns, `${form.name} in pieces of ${sizes.join()}`)
      }
    }
  })

  test(`an answer in ${coding.name} that is cut anywhere comes to its end, and no number is made up`, async () => {
    for (const form of twoForms) {
      const encoded = coding.encode(form.body)
      for (let at = 0; at < encoded.length; at++) {
        const { columns } = await meterForm(form, [encoded.subarray(0, at)], { headers, cut: true })
        assert.equal(columns.failure_code, 'upstream_reset')
        assertHonest(form, columns, `cut at ${at}`)
      }
    }
  })
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
