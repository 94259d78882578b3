import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { foldCalls } from '../rollup/fold-calls.ts'
import { Summing } from '../rollup/summing.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import type { SlicedWork } from './job.ts'

/** The least number of calls that a step reads. */
const leastRead = 1000

/** Work that updates all sums that lack calls. */
export function sumUp(database: DatabaseSync, clock: Pick<Clock, 'wallTime'>): SlicedWork {
  const summing = new Summing(database)
  const statements = new RowStatements(database)
  const unsummedRows = (): number => statements.number('SELECT count(*) FROM unsummed') ?? 0
  const total = unsummedRows()
  return {
    total,
    slice: (limit) => {
      // Steps mostly read, so a step may be larger than the limit without blocking a writer.
      const hasMore = summing.step(clock.wallTime(), Math.max(leastRead, limit))
      return { done: hasMore ? Math.max(0, total - unsummedRows()) : total, hasMore }
    },
  }
}

/** Work that folds calls that began before `untilMs`, the start of a day. */
export function foldBefore(
  database: DatabaseSync,
  untilMs: number,
  clock: Pick<Clock, 'wallTime'>,
): SlicedWork {
  const fold = foldCalls(database)
  const summing = new Summing(database)
  let done = 0
  return {
    total: callsBefore(database, untilMs),
    slice: (limit) => {
      const folded = fold(untilMs, limit)
      // A late call must be in the sums before its day is folded.
      if (folded === null) {
        summing.step(clock.wallTime(), limit)
        return { done, hasMore: true }
      }
      done += folded
      return { done, hasMore: folded > 0 }
    },
  }
}

/** Counts calls that began before an instant (ms since the Unix epoch), by reading each. */
export function callsBefore(database: DatabaseSync, instantMs: number): number {
  const count = 'SELECT count(*) FROM calls WHERE id < ?'
  return new RowStatements(database).number(count, firstIdAt(instantMs)) ?? 0
}
