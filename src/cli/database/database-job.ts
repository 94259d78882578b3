import type { JobFailure } from '../../api/database-job.ts'
import { FoldedRangeError } from '../../call/no-answer.ts'
import { reasonOf } from '../../lib/errors.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { StoreError } from '../../store/sqlite/store-error.ts'
import { exitCode } from '../exit-code.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** A message of a job: an object for `--json`, and text. */
interface JobOutput {
  readonly json: object
  readonly text: string
}

/** Progress of a job, without text while there is none. Only the newest progress is shown, at intervals. */
interface JobProgress extends Partial<JobOutput> {
  readonly json: object
  readonly phase?: string
}

/** The output of a job on the database. */
interface JobOptions {
  readonly db: string
  readonly json: boolean
  /** The sentence after an unexpected error: the work that the job has already done. */
  readonly whatStays: string
}

/** Least time between two messages of progress in one phase. */
const progressEveryMs = 200

/** Runs a job, and prints its progress and result. Resolves with the exit code. */
export async function runDatabaseJob(
  { clock, print, warn, isWatched }: Pick<Terminal, 'clock' | 'print' | 'warn' | 'isWatched'>,
  { db, json, whatStays }: JobOptions,
  work: (report: (progress: JobProgress) => void) => Promise<JobOutput>,
): Promise<number> {
  let shown = 0
  const clear = (): void => {
    if (shown > 0) print(`\r${' '.repeat(shown)}\r`)
  }
  let lastPhase: string | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  const report = (progress: JobProgress): void => {
    if (progress.phase === lastPhase && clock.now() - lastMs < progressEveryMs) return
    lastPhase = progress.phase
    lastMs = clock.now()
    if (json) print(`${JSON.stringify(progress.json)}\n`)
    else if (isWatched && progress.text !== undefined) {
      print(`\r${progress.text.padEnd(shown)}`)
      shown = progress.text.length
    }
  }
  try {
    const outcome = await work(report)
    clear()
    print(json ? `${JSON.stringify(outcome.json)}\n` : outcome.text)
    return 0
  } catch (error) {
    clear()
    const failure = failureOf(error, db, whatStays)
    if (json) print(`${JSON.stringify({ error: failure })}\n`)
    else warn(`tokenweir: ${failure.message}\n`)
    return exitCode.fault
  }
}

/** The result of a job. Throws {@link JobError} if the job could not begin. */
export function done<Outcome extends object | number>(
  outcome: Outcome | StoreAbsence | 'job_running',
  db: string,
): Outcome {
  if (typeof outcome !== 'string') return outcome
  if (outcome === 'job_running') {
    const message = `${db}: another process is running compress, rebuild, reprice or import on it.`
    throw new JobError('job_running', message)
  }
  const code = outcome === 'missing' || outcome === 'empty' ? 'no_database' : 'job_failed'
  throw new JobError(code, `${db}: ${absenceText[outcome]}`)
}

/** `fold: 33%` */
export function shareText(what: string, done: number, total: number): Pick<JobOutput, 'text'> | null {
  return total === 0 ? null : { text: `${what}: ${Math.floor((100 * done) / total)}%` }
}

function failureOf(error: unknown, db: string, whatStays: string): JobFailure {
  if (error instanceof JobError) return { code: error.code, message: error.message }
  if (error instanceof FoldedRangeError) {
    const from = new Date(error.unfoldedFromMs).toISOString()
    const message = `Calls before ${from} are rolled up into hourly totals, whose cost cannot be recalculated; use --from ${from}.`
    return { code: 'folded_range', message, data: { from } }
  }
  const saysAll = error instanceof StoreError
  return { code: 'job_failed', message: `${db}: ${reasonOf(error)}${saysAll ? '' : `. ${whatStays}`}` }
}
