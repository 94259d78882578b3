import type { DatabaseSync } from 'node:sqlite'
import { RollForward } from '../../src/store/rollup/roll-forward.ts'

const rolledPerStep = 100_000

/** Throws the sums of all calls away that are not folded; {@link rollAll} makes them again. */
export function withoutRollups(database: DatabaseSync): void {
  new RollForward(database).restart()
}

/** Adds every call to the rollups, as of `nowMs`. */
export function rollAll(database: DatabaseSync, nowMs: number): void {
  const rollForward = new RollForward(database)
  let hasMore = true
  while (hasMore) hasMore = rollForward.step(nowMs, rolledPerStep)
}
