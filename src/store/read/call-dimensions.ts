import { type NamedField, storedFields } from '../../call/fields/call-fields.ts'
import { callDimensions, type FieldDimension } from '../../call/call-question.ts'

export const dimensionFields = Object.fromEntries(
  storedFields
    .filter(({ name }) => callDimensions.some((dimension) => dimension === name))
    .map((field) => [field.name, field]),
) as unknown as Readonly<Record<FieldDimension, NamedField>>
