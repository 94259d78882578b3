import type { DatabaseSync } from 'node:sqlite'
import { RollForward } from '../rollup/roll-forward.ts'
import { rollupState } from '../rollup/rollup-state.ts'
import { inSlices, type JobClock } from './job.ts'

const bounds = { first: 20, least: 4, most: 300 } as const

/** Adds all calls to the rollups that they lack; tells how many of them it has added. */
export async function rollUp(
  database: DatabaseSync,
  clock: JobClock,
  tell: (done: number, total: number) => void,
  between?: () => Promise<void>,
): Promise<void> {
  const forward = new RollForward(database)
  const state = rollupState(database)
  const before = Math.max(0, state().watermark)
  const lastSeq = database.prepare('SELECT max(seq) AS seq FROM calls').get()?.['seq']
  const total = Math.max(0, Number(lastSeq) - before)
  tell(0, total)
  const slice = (limit: number): { readonly hasMore: boolean } => {
    const hasMore = forward.step(clock.wallTime(), limit)
    tell(Math.max(0, Math.min(total, state().watermark - before)), total)
    return { hasMore }
  }
  await inSlices(clock, bounds, slice, between)
}
