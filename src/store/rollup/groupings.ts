import { callDimensions, type FieldDimension } from '../../call/call-question.ts'
import { type NamedField, storedFields } from '../../call/fields/call-fields.ts'

/** The fields by which calls can be grouped. */
export const dimensionFields = Object.fromEntries(
  storedFields
    .filter(({ name }) => callDimensions.some((dimension) => dimension === name))
    .map((field) => [field.name, field]),
) as unknown as Readonly<Record<FieldDimension, NamedField>>

/** The fields by which the sums are grouped. */
export const sumDimensions = [
  'call_type',
  'outcome',
  'endpoint',
  'status',
  'failure_code',
  'model',
  'client',
  'upstream_name',
  'tags',
] as const

export type SumDimension = (typeof sumDimensions)[number]

/** Columns of `sum_keys`, named as those of `calls`. */
export const keyColumns: readonly string[] = sumDimensions.map(
  (dimension) => dimensionFields[dimension].column,
)

/** Dimensions whose values clients can make up, so that their number is unlimited. */
export const namedDimensions: readonly SumDimension[] = ['endpoint', 'model', 'client', 'tags']

/** Widths of time cells, in minutes. */
export type CellMinutes = 15 | 30 | 60 | 1440

/** A set of dimensions by which sums are kept. */
export interface Grouping {
  /** The id in the tables. */
  readonly id: number
  readonly by: readonly SumDimension[]
  /** The widths in which the grouping is kept, the widest first. */
  readonly widths: readonly CellMinutes[]
  /** Most combinations; all further ones count together, see {@link otherId}. */
  readonly mostKeys: number
}

const widths = [1440, 60] as const

/** Groupings by size: the first one that can answer a question is used. The last has all combinations. */
export const groupings: readonly Grouping[] = [
  // Half and quarter hours serve charts of a day, and time zones that differ from UTC by 30 or 45 minutes.
  { id: 0, by: ['call_type'], widths: [1440, 60, 30, 15], mostKeys: 4000 },
  {
    id: 1,
    by: ['call_type', 'outcome', 'endpoint', 'status', 'failure_code', 'upstream_name'],
    widths,
    mostKeys: 4000,
  },
  { id: 2, by: ['call_type', 'outcome', 'model'], widths, mostKeys: 4000 },
  { id: 3, by: ['client'], widths, mostKeys: 4000 },
  { id: 5, by: ['tags'], widths, mostKeys: 200_000 },
  { id: 4, by: sumDimensions, widths, mostKeys: 200_000 },
]

/** Cells of a grouping and a width, counted since 1970: `first` to `past` (exclusive). */
export type CellRange = readonly [grouping: number, minutes: CellMinutes, first: number, past: number]

/** The cells of an hour and of its parts. */
export function cellsOfHour(hour: number): readonly CellRange[] {
  return groupings.flatMap(({ id, widths }) =>
    widths
      .filter((minutes) => minutes <= 60)
      .map((minutes) => [id, minutes, (hour * 60) / minutes, ((hour + 1) * 60) / minutes] as const),
  )
}

/** Placeholder in a key for a value that the grouping or its calls do not have. */
export const noId = -1
/** Placeholder in a key for names that came after the grouping had its most keys. */
export const otherId = -2

/** The smallest grouping with all of these fields; `null` if there is none. */
export function groupingFor(fields: ReadonlySet<string>): Grouping | null {
  return groupings.find(({ by }) => fields.isSubsetOf(new Set<string>(by))) ?? null
}
