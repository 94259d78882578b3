import { type RebuildOutcome, rebuildStore } from '../../store/jobs/rebuild-store.ts'
import { type CliCommand, type Environment, parseOptions } from '../parse-options.ts'
import { counted, duration } from '../terminal/figures.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'
import { inBackground, runDatabaseJob } from './database-job.ts'
import { optionTable } from '../../options/option-spec.ts'
import { database } from '../option-rows.ts'

const table = optionTable({ db: database() })

export const command: CliCommand = {
  name: 'db rebuild',
  description: 'make the sums anew from the calls',
  options: table,
}

/** `tokenweir db rebuild`: makes the sums anew. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal = thisTerminal(),
  rebuild: typeof rebuildStore = inBackground(rebuildStore),
): Promise<number> {
  const { db } = parseOptions(table, argv, env)
  const { clock } = terminal
  return await runDatabaseJob<{ readonly done: number; readonly total: number }, RebuildOutcome>(
    {
      db,
      json: false,
      run: (onProgress) => rebuild(db, { clock, onProgress }),
      progressText: ({ done, total }) => (total === 0 ? null : `counting again: day ${done} of ${total}`),
      resultText: (outcome) => `${db}: ${resultText(outcome)}.\n`,
      whatStays: 'What was put right stays right; it can be run again.',
    },
    terminal,
  )
}

function resultText({ days, hours, wrongHours, wrongDays, durationMs }: RebuildOutcome): string {
  const all = `${counted(hours, 'hour')} of ${counted(days, 'day')} were counted again in ${duration(durationMs)}`
  if (wrongHours + wrongDays === 0) return `${all}; all were right`
  return `${all}; ${counted(wrongHours, 'hour')} and the sums of ${counted(wrongDays, 'day')} were wrong; all unfolded sums were made anew`
}
