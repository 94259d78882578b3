import { storedFields } from '../../call/fields/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'
import { inTexts, recordReader, type StoredRow } from '../../call/fields/record-reader.ts'

/** A row's values: its id, then one for each of `storedFields`, in their order. Words are texts. */
export type StoredValues = StoredRow

const source = { ...inTexts, at: (index: number) => `row[${index + 1}]` }

/** The call of a row. */
export const callOf: (row: StoredValues) => StoredCall = recordReader(
  storedFields,
  ['row'],
  source,
  'id: row[0],',
)
