/** What calls can be told apart by within the rollups. */
export type Dimension = 'call_type' | 'model' | 'outcome' | 'client' | 'endpoint' | 'status' | 'failure_code'

/** One way of adding calls up: by call type, by the outcome, and by one entry that is not of a closed set. */
export interface Grouping {
  /** Written into `rollup_keys`, so a number is never given a new meaning. */
  readonly id: number
  readonly byType: boolean
  readonly byOutcome: boolean
  readonly entry: Exclude<Dimension, 'call_type' | 'outcome'> | null
}

/** From the coarsest to the finest: the first that can answer a question reads the fewest rows. */
export const groupings: readonly Grouping[] = [
  { id: 0, byType: false, byOutcome: false, entry: null },
  // The most usual questions, again without what they do not ask: a quarter of the rows.
  { id: 7, byType: true, byOutcome: false, entry: null },
  { id: 8, byType: false, byOutcome: false, entry: 'model' },
  { id: 1, byType: true, byOutcome: true, entry: null },
  { id: 2, byType: true, byOutcome: true, entry: 'model' },
  { id: 3, byType: true, byOutcome: true, entry: 'client' },
  { id: 4, byType: true, byOutcome: true, entry: 'endpoint' },
  { id: 5, byType: true, byOutcome: true, entry: 'status' },
  { id: 6, byType: true, byOutcome: true, entry: 'failure_code' },
]

/** In place of a call type or an outcome that a grouping does not tell apart. */
export const anyId = -1
/** In place of an entry that the call does not have. */
export const noEntryId = -1
/** In place of an entry that came when a grouping had {@link maxKeys} already: names that clients make up have no end. */
export const otherEntryId = -2
export const maxKeys = 4000

/** The grouping that tells apart everything that is asked for; `null` where calls must be read one by one. */
export function groupingFor(asked: ReadonlySet<Dimension>): Grouping | null {
  return (
    groupings.find(({ byType, byOutcome, entry }) =>
      [...asked].every(
        (dimension) =>
          dimension === entry ||
          (byType && dimension === 'call_type') ||
          (byOutcome && dimension === 'outcome'),
      ),
    ) ?? null
  )
}
