import type { Clock } from '../../call/clock.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import type { RebuildOutcome, RebuildWorld } from '../../store/jobs/rebuild-store.ts'
import { type RebuildOptions, rebuildOptionTable } from './db-options.ts'
import { exitCode } from '../exit-code.ts'
import { type Environment, parseOptions } from '../parse-options.ts'

/** What `tokenweir db rebuild` needs of the world. */
export interface RebuildContext {
  readonly clock: Clock
  readonly rebuild: (
    path: string,
    world: RebuildWorld,
  ) => Promise<RebuildOutcome | StoreAbsence | 'job_running'>
  readonly print: (text: string) => void
  readonly warn: (text: string) => void
  /** Whether `print` goes to somebody who watches. */
  readonly isTerminal: boolean
}

/** `tokenweir db rebuild`: makes the sums anew. Gives the exit code; throws `OptionError`. */
export async function runRebuild(
  argv: readonly string[],
  env: Environment,
  { clock, rebuild, print, warn, isTerminal }: RebuildContext,
): Promise<number> {
  const { db }: RebuildOptions = parseOptions(rebuildOptionTable, argv, env)
  const onProgress: RebuildWorld['onProgress'] = ({ done, total }) => {
    if (isTerminal && total > 0) print(`\rcounting again: day ${done} of ${total} `)
  }
  const outcome = await rebuild(db, { clock, onProgress }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    return { reason: `${reason}. What was put right stays right; it can be run again.` }
  })
  if (isTerminal) print(`\r${' '.repeat(40)}\r`)
  if (typeof outcome === 'string' || 'reason' in outcome) {
    warn(`tokenweir: ${db}: ${typeof outcome === 'string' ? absenceOf(outcome) : outcome.reason}\n`)
    return exitCode.fault
  }
  const { days, hours, wrongHours, wrongDays, durationMs } = outcome
  const all = `${db}: ${count(hours, 'hour')} of ${count(days, 'day')} were counted again in ${(durationMs / 1000).toFixed(1)} s`
  const found =
    wrongHours + wrongDays === 0
      ? 'all were right'
      : `${count(wrongHours, 'hour')} and the sums of ${count(wrongDays, 'day')} were made anew`
  print(`${all}; ${found}.\n`)
  return 0
}

function absenceOf(why: StoreAbsence | 'job_running'): string {
  return why === 'job_running'
    ? 'compress or rebuild is at work on it already, in another process.'
    : absenceText[why]
}

function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}
