import type { FieldDimension } from '../../call/call-question.ts'
import type { LevelNumber } from './rollup-spans.ts'

/** What calls can be told apart by within the rollups. */
export type Dimension = FieldDimension

/** What has more values than those of a closed set. */
export type EntryDimension = Exclude<Dimension, 'call_type' | 'outcome'>

/** One way of adding calls up: by call type, by the outcome, and by one entry that is not of a closed set, or two. */
export interface Grouping {
  /** Written into `rollup_keys`, so a number is never given a new meaning. */
  readonly id: number
  readonly byType: boolean
  readonly byOutcome: boolean
  readonly entry: EntryDimension | null
  readonly second?: EntryDimension
  /** The widths of time in which it is held, the finest first. */
  readonly levels: readonly LevelNumber[]
}

const quarterly = [0, 1, 2, 3] as const

/** From the coarsest to the finest: the first that can answer a question reads the fewest rows. */
export const groupings: readonly Grouping[] = [
  // Half hours are held for this one alone: charts by the hour in zones that are off UTC by half an hour.
  { id: 0, byType: false, byOutcome: false, entry: null, levels: [0, 4, 1, 2, 3] },
  // The most usual questions, again without what they do not ask: a quarter of the rows.
  { id: 7, byType: true, byOutcome: false, entry: null, levels: quarterly },
  { id: 8, byType: false, byOutcome: false, entry: 'model', levels: quarterly },
  { id: 1, byType: true, byOutcome: true, entry: null, levels: quarterly },
  { id: 2, byType: true, byOutcome: true, entry: 'model', levels: quarterly },
  { id: 3, byType: true, byOutcome: true, entry: 'client', levels: quarterly },
  { id: 4, byType: true, byOutcome: true, entry: 'endpoint', levels: quarterly },
  { id: 5, byType: true, byOutcome: true, entry: 'status', levels: quarterly },
  { id: 6, byType: true, byOutcome: true, entry: 'failure_code', levels: quarterly },
  // With two entries there are so many cells that hours are the narrowest of them.
  { id: 9, byType: true, byOutcome: false, entry: 'client', second: 'model', levels: [1, 2, 3] },
]

/** Those that hold a level, and make its slots of finer ones. */
export function groupingsMadeAt(level: LevelNumber): readonly Grouping[] {
  return groupings.filter(({ levels: [finest, ...wider] }) => finest !== level && wider.includes(level))
}

/** In place of a call type, an outcome or an entry that a grouping does not tell apart or the call does not have. */
export const noId = -1
/** In place of an entry that came when a grouping had {@link maxKeys} already: names that clients make up have no end. */
export const otherEntryId = -2
export const maxKeys = 4000

/** Entries of words and statuses lie below. */
const entryLimit = 2 ** 26

/** Two entries as one number, which is never negative. */
export function pairId(entryId: number, secondId: number): number {
  return (entryId - noId) * entryLimit + (secondId - noId)
}

/** The two entries of a {@link pairId}. */
export function entriesOfPair(pair: number): readonly [entryId: number, secondId: number] {
  return [Math.floor(pair / entryLimit) + noId, (pair % entryLimit) + noId]
}

/** The grouping that tells apart everything that is asked for; `null` if calls must be read one by one. */
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
