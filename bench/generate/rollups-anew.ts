import type { DatabaseSync } from 'node:sqlite'
import { RollForward } from '../../src/store/rollup/roll-forward.ts'

const rolledPerStep = 100_000

/** Throws the sums of all calls away, of which none is folded; {@link rollAll} makes them again. */
export function withoutRollups(database: DatabaseSync): void {
  database.exec(`
    DELETE FROM rollup_quarters;
    DELETE FROM rollup_spans;
    UPDATE rollup_state SET watermark_seq = 0, coarse_until = 0, coarse_key = 0;
  `)
}

/** Adds every call to the rollups, as of `nowMs`. */
export function rollAll(database: DatabaseSync, nowMs: number): void {
  const rollForward = new RollForward(database)
  let hasMore = true
  while (hasMore) hasMore = rollForward.step(nowMs, rolledPerStep)
}
