import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { foldCalls } from '../rollup/fold-calls.ts'
import { RollForward } from '../rollup/roll-forward.ts'
import { rollupState } from '../rollup/rollup-state.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import type { SlicedWork } from './job.ts'

/** Adds all calls to the rollups that they lack. */
export function rollUp(database: DatabaseSync, clock: Pick<Clock, 'wallTime'>): SlicedWork {
  const forward = new RollForward(database)
  const state = rollupState(database)
  const before = Math.max(0, state().watermark)
  const lastSeq = new RowStatements(database).number('SELECT max(seq) FROM calls') ?? 0
  return {
    total: Math.max(0, lastSeq - before),
    slice: (limit) => {
      const hasMore = forward.step(clock.wallTime(), limit)
      return { done: Math.max(0, state().watermark - before), hasMore }
    },
  }
}

/** Folds the calls away that began before the start of a day. */
export function foldBefore(database: DatabaseSync, untilMs: number): SlicedWork {
  const fold = foldCalls(database)
  let done = 0
  return {
    total: callsBefore(database, untilMs),
    slice: (limit) => {
      const folded = fold(untilMs, limit)
      done += folded
      return { done, hasMore: folded > 0 }
    },
  }
}

/** How many calls began before an instant. Reads each of them. */
export function callsBefore(database: DatabaseSync, instantMs: number): number {
  const count = 'SELECT count(*) FROM calls WHERE id < ?'
  return new RowStatements(database).number(count, firstIdAt(instantMs)) ?? 0
}
