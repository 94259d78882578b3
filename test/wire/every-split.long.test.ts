/** Every form, split at every byte, and in every coding. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitBytes } from '../support/response-bytes.ts'
import { allWireForms } from './all-wire-forms.ts'
import { testedCodings } from './content-codings.ts'
import { meterForm, meterFormNow } from './meter-form.ts'

for (const form of allWireForms) {
  test(`${form.name}: the same row, split at every byte`, () => {
    for (let at = 1; at < form.body.length; at++) {
      const pieces = [form.body.subarray(0, at), form.body.subarray(at)]
      assert.deepEqual(meterFormNow(form, pieces).columns, form.columns, `split at ${at}`)
    }
  })
}

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
}
