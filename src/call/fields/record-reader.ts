import type { NamedField, RecordFields } from './call-fields.ts'

/** Values as they are stored: times in whole microseconds, closed sets by their codes. */
export type StoredRow = readonly (number | string | null)[]

/** JavaScript expressions that read stored values. In all but `at`, the variable `value` is the stored value. */
export interface ValueSource {
  /** Reads a field's stored value, by the field's index. */
  readonly at: (index: number) => string
  readonly isUnknown: string
  /** Reads the text of a word. */
  readonly word: (field: NamedField) => string
  /** Reads a text that hardly ever repeats. */
  readonly text: string
}

/** Reads a row in the order of the fields, whose words are texts. */
export const inTexts: ValueSource = {
  at: (index) => `row[${index}]`,
  isUnknown: 'value === null',
  word: () => 'value',
  text: 'value',
}

/**
 * Makes a function with these `parameters` that returns a record of some fields, with times to a microsecond. The
 * function's source text is generated from the table of fields at the start, because a loop over field names takes
 * twice as long. `first` is source text for members before the fields.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- who names the parameters knows their types.
export function recordReader<Read extends (...values: never[]) => Partial<RecordFields>>(
  fields: readonly NamedField[],
  parameters: readonly string[],
  source: ValueSource,
  first: string = '',
): Read {
  const members = fields.map((field, index) => {
    const isUnknown = `(value = ${source.at(index)}, ${source.isUnknown})`
    return `${field.record}: ${isUnknown} ? null : ${decoding(field, source)},`
  })
  // oxlint-disable-next-line typescript/no-implied-eval -- nothing goes into it but our own table.
  return new Function(
    ...parameters,
    `let value\nreturn {${[first, ...members].join('\n')}}`,
  ) as unknown as Read
}

function decoding(field: NamedField, { word, text }: ValueSource): string {
  const { kind, codes = {} } = field
  switch (kind) {
    case 'time':
      return 'value / 1000'
    case 'code':
      return `${JSON.stringify(Object.fromEntries(Object.entries(codes).map(([name, code]) => [code, name])))}[value]`
    case 'flag':
      return 'value === 1'
    case 'fingerprint':
      return "(value >>> 0).toString(16).padStart(8, '0')"
    case 'word':
      return word(field)
    case 'text':
      return text
    default:
      return 'value'
  }
}
