import type { CallCondition, IdFilter } from './call-condition.ts'
import type { FigureParts } from './figure-parts.ts'
import type { Dimension } from '../rollup/rollup-groupings.ts'

/** A question about many calls, in the numbers of the tables. */
export interface FigureQuestion {
  /** Milliseconds since the Unix epoch, rising: each bucket reaches from one edge (inclusive) to the next. */
  readonly edgesMs: readonly number[]
  readonly filter: IdFilter
  /** What the rollups do not tell apart: with any of it, calls are read one by one. */
  readonly extra?: CallCondition
  /** What tells calls apart besides the buckets of time. */
  readonly dimension: Dimension | null
  /** Spreads of calls that the rollups hold are left out. */
  readonly isSumsOnly?: true
}

/** The calls of one bucket and one entry of the dimension: its id, `null` for calls that have none. */
export interface FigureGroup {
  readonly bucket: number
  readonly entry: number | null
  readonly figures: FigureParts
}
