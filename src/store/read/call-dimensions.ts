import { type NamedField, storedFields } from '../../call/call-fields.ts'
import { callDimensions, type FieldDimension } from '../../call/call-question.ts'

/** The dimensions of calls: fields, and sets of tags. */
export type Dimension = FieldDimension | 'tags'

export const dimensionFields = Object.fromEntries(
  storedFields
    .filter(({ name }) => name === 'tags' || callDimensions.some((each) => each === name))
    .map((field) => [field.name, field]),
) as unknown as Readonly<Record<Dimension, NamedField>>
