import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedFields } from './call-fields.ts'
import type { StoredCall } from '../call-record.ts'
import { inTexts, recordReader, type StoredRow } from './record-reader.ts'

const kinds: readonly (readonly [name: keyof StoredCall, stored: number | string | null, value: unknown])[] =
  [
    ['callType', 1, 'embedding'],
    ['stream', 1, true],
    ['stream', 0, false],
    ['durationMs', 8008, 8.008],
    ['status', 429, 429],
    ['costNanoUsd', 0, 0],
    ['keyFingerprint', -1, 'ffffffff'],
    ['keyFingerprint', 10, '0000000a'],
    ['model', 'a `${b}` "model"', 'a `${b}` "model"'],
    ['errorMessage', 'no', 'no'],
    ['model', null, null],
    ['durationMs', null, null],
  ]

for (const [name, stored, value] of kinds) {
  test(`${name} is read from ${JSON.stringify(stored)}`, () => {
    const fields = storedFields.filter(({ record }) => record === name)
    const read = recordReader<(row: StoredRow) => Partial<StoredCall>>(fields, ['row'], inTexts)
    assert.deepEqual(read([stored]), { [name]: value })
  })
}

test('fields are read from where they are, behind what is put before them', () => {
  const fields = storedFields.filter(({ record }) => record === 'model' || record === 'attempts')
  const place = { ...inTexts, at: (index: number) => `row[${index + 1}]` }
  const read = recordReader<(row: StoredRow) => Partial<StoredCall>>(fields, ['row'], place, 'id: row[0],')
  const names = fields.map(({ record }) => record)
  assert.deepEqual(names, ['model', 'attempts'])
  assert.deepEqual(read([7, 'm', 2]), { id: 7, model: 'm', attempts: 2 })
})
