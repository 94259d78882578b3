import type { DatabaseSync } from 'node:sqlite'
import { idsPerMs } from '../../src/call/call-id.ts'
import { Summing } from '../../src/store/rollup/summing.ts'

const readPerStep = 100_000

/** Computes the sums of all calls again, as of `nowMs`. No call may be folded. */
export function sumAll(database: DatabaseSync, nowMs: number): void {
  database.exec('DELETE FROM sums; DELETE FROM sum_keys')
  markUnsummed(database)
  const summing = new Summing(database)
  while (summing.step(nowMs, readPerStep));
}

/** Says of all hours and days that their cells lack the calls that there are. */
export function markUnsummed(database: DatabaseSync): void {
  database.exec(`
    DELETE FROM unsummed;
    INSERT INTO unsummed SELECT DISTINCT 60, id / (${idsPerMs} * 3600000), 0, 1 FROM calls;
    INSERT INTO unsummed SELECT DISTINCT 1440, cell_number / 24, 0, 1 FROM unsummed;
  `)
}
