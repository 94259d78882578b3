import { type RebuildOutcome, rebuildStore } from '../../store/jobs/rebuild-store.ts'
import type { CommandContext } from '../parse-options.ts'
import { counted, duration } from '../../lib/number-format.ts'
import { done, runDatabaseJob } from './database-job.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { database } from '../option-rows.ts'

export const example = 'tokenweir db rebuild'
export const use = 'acts'
export const table = optionTable({ db: database() })

/** `tokenweir db rebuild`: computes the sums again. Returns the exit code. */
export async function run(
  { db }: OptionsOf<typeof table>,
  { terminal }: CommandContext,
  rebuild: typeof rebuildStore = rebuildStore,
): Promise<number> {
  const whatStays = 'Totals corrected so far stay correct. Run it again to continue.'
  return await runDatabaseJob(terminal, { db, json: false, whatStays }, async (report) => {
    const onProgress = (progress: { readonly done: number; readonly total: number }): void => {
      const text = `recounting: day ${progress.done} of ${progress.total}`
      report({ json: progress, ...(progress.total === 0 ? {} : { text }) })
    }
    const outcome = done(await rebuild(db, { clock: terminal.clock, onProgress }), db)
    return { json: outcome, text: `${db}: ${resultText(outcome)}.\n` }
  })
}

function resultText({ days, hours, wrongHours, wrongDays, durationMs }: RebuildOutcome): string {
  const all = `${counted(hours, 'hour')} of ${counted(days, 'day')} were recounted in ${duration(durationMs)}`
  if (wrongHours + wrongDays === 0) return `${all}; all were correct`
  return `${all}; ${counted(wrongHours, 'hour')} and the totals of ${counted(wrongDays, 'day')} were wrong; the totals of all recorded calls were recomputed`
}
