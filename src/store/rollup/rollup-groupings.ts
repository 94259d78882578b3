/** What calls can be told apart by within the rollups. */
export type Dimension = 'call_type' | 'model' | 'outcome' | 'client' | 'endpoint' | 'status' | 'failure_code'

/** What has more values than those of a closed set. */
export type EntryDimension = Exclude<Dimension, 'call_type' | 'outcome'>

/** One way of adding calls up: by call type, by the outcome, and by one entry that is not of a closed set, or two. */
export interface Grouping {
  /** Written into `rollup_keys`, so a number is never given a new meaning. */
  readonly id: number
  readonly byType: boolean
  readonly byOutcome: boolean
  readonly entry: EntryDimension | null
  /** With two entries there are so many cells that hours are the narrowest of them. */
  readonly second?: EntryDimension
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
  { id: 9, byType: true, byOutcome: false, entry: 'client', second: 'model' },
]

/** In place of a call type or an outcome that a grouping does not tell apart. */
export const anyId = -1
/** In place of an entry that the call does not have. */
export const noEntryId = -1
/** In place of an entry that came when a grouping had {@link maxKeys} already: names that clients make up have no end. */
export const otherEntryId = -2
export const maxKeys = 4000
/** Half hours are held for this grouping alone: charts by the hour in zones that are off UTC by half an hour. */
export const halvesGroupingId = 0

/** Entries of words and statuses lie below. */
const entryLimit = 2 ** 26

/** Two entries as one number, which is never negative. */
export function pairId(entryId: number, secondId: number): number {
  return (entryId - noEntryId) * entryLimit + (secondId - noEntryId)
}

/** The two entries of a {@link pairId}. */
export function entriesOfPair(pair: number): readonly [entryId: number, secondId: number] {
  return [Math.floor(pair / entryLimit) + noEntryId, (pair % entryLimit) + noEntryId]
}

/** The grouping that tells apart everything that is asked for; `null` where calls must be read one by one. */
export function groupingFor(asked: ReadonlySet<Dimension>): Grouping | null {
  return (
    groupings.find(({ byType, byOutcome, entry, second }) =>
      [...asked].every(
        (dimension) =>
          dimension === entry ||
          dimension === second ||
          (byType && dimension === 'call_type') ||
          (byOutcome && dimension === 'outcome'),
      ),
    ) ?? null
  )
}
