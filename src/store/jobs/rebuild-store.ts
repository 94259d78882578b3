import { SumCheck } from '../rollup/check-sums.ts'
import { replaceDamaged } from '../rollup/damaged-sums.ts'
import { noteChange, noteDay } from '../rollup/unsummed.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { inSlices, type JobContext, runJob } from './job.ts'
import { sumUp } from './sum-work.ts'

/** The result of a rebuild: recounted and wrong hours and days. */
export interface RebuildOutcome {
  readonly days: number
  readonly hours: number
  readonly wrongHours: number
  /** Days whose sums did not add up from their hours. */
  readonly wrongDays: number
  readonly durationMs: number
}

/**
 * Counts calls again, and corrects wrong sums of hours and days, while others read and write. A rebuild may
 * be killed at any time; the next updater of sums continues. Hours of folded calls stay unchanged, except for
 * cells of a damaged page.
 */
export async function rebuildStore(
  path: string,
  { clock, onProgress }: JobContext,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  return await runJob(path, async (database) => {
    replaceDamaged(database)
    const check = new SumCheck(database)
    const statements = new RowStatements(database)
    const [hours, days] = [check.hours(), check.days()]
    const total = hours.length + days.length
    let done = 0
    // Hours and days are checked without the lock.
    const noteWrong = async (
      cellNumbers: readonly number[],
      isWrong: (cellNumber: number) => boolean,
      note: (cellNumber: number) => unknown,
    ): Promise<number> => {
      let wrong = 0
      for (const cellNumber of cellNumbers) {
        if (isWrong(cellNumber)) {
          inTransaction(database, () => note(cellNumber))
          wrong++
        }
        onProgress({ done: ++done, total })
        await clock.delay(0)
      }
      return wrong
    }
    const wrongHours = await noteWrong(
      hours,
      (hour) => check.isHourWrong(hour),
      (hour) => noteChange(statements, hour),
    )
    const wrongDays = await noteWrong(
      days,
      (day) => check.isDayWrong(day),
      (day) => noteDay(statements, day),
    )
    await inSlices(clock, sumUp(database, clock))
    return {
      days: days.length,
      hours: hours.length,
      wrongHours,
      wrongDays,
      durationMs: clock.now() - startedMs,
    }
  })
}
