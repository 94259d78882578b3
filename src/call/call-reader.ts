import type { CallFilter } from './call-filter.ts'
import type { CallAnswer, CallQuestion } from './call-question.ts'
import type { CallType } from './call.ts'
import type { CallJson } from './call-record.ts'

/** By what the longest lists are cut: the newest, or the largest of a column. */
export type CallSort = 'started_at' | 'duration' | 'ttft' | 'cost'

/** A page of a list, newest first unless sorted otherwise. */
export interface CallPage {
  readonly limit: number
  /** Only calls with a smaller id: the id of the last call of the page before. */
  readonly beforeId?: number
  /** Other than `started_at`: the largest first, calls without a value left out, no further page. */
  readonly sort?: CallSort
}

/** Calls in the order in which they ended, for those who follow along. */
export interface EndedCalls {
  readonly calls: readonly CallJson[]
  /** Pass it as `afterSeq` the next time. */
  readonly lastSeq: number
}

/**
 * The questions asked of recorded calls. What any store must answer is stated in its shared tests. Whoever opens
 * a reader may give it an `IsOver`: every method that may read many rows throws `QueryTooSlow` soon after it
 * says so.
 */
export interface CallReader {
  /** Newest first. */
  list(filter: CallFilter, page: CallPage): readonly CallJson[]
  /** The calls that were written after `afterSeq`, oldest first, at most `limit`. */
  endedSince(afterSeq: number, filter: CallFilter, limit: number): EndedCalls
  /** One call by its id as a number. */
  call(id: number): CallJson | null
  /**
   * Totals and percentiles, all of one instant. Edges before `foldedUntilMs` count from the start of their
   * quarter hour; throws `FoldedRange` where two of them are then the same, or where the sums of folded
   * calls do not tell what is asked.
   */
  aggregate(question: CallQuestion): CallAnswer
  /** Every model that was asked for and every type of call, in order, for the choices of a filter. */
  choices(): { readonly models: readonly string[]; readonly types: readonly CallType[] }
  /** When the first call began and the last one did, in milliseconds since the Unix epoch; `null` without calls. */
  extent(): { readonly firstMs: number; readonly lastMs: number } | null
  /** Calls before this instant, a whole quarter hour, were folded into sums; `null` where none were. */
  foldedUntilMs(): number | null
  /** The highest `seq`, 0 when there is no call: where a follower starts. */
  lastSeq(): number
  /** Answers to several questions that are asked in it are of one instant. */
  inOneInstant<Answer>(ask: () => Answer): Answer
  close(): void
}
