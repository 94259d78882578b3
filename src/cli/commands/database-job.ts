import type { JobFailure } from '../../api/database-job.ts'
import { messageOf } from '../../lib/caught.ts'
import { lowerPriority } from '../../lib/lower-priority.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import { StoreError } from '../../store/sqlite/store-error.ts'
import { exitCode } from '../exit-code.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** A job on the database, from its start to what is said of it. */
export interface DatabaseJob<Progress, Outcome> {
  readonly db: string
  /** Progress, result and failure are printed as one JSON object per line. */
  readonly json: boolean
  run(onProgress: (progress: Progress) => void): Promise<Outcome | StoreAbsence | 'job_running' | JobFailure>
  /** Progress in words, of which only the newest is shown; null for nothing yet. */
  progressText?(progress: Progress): string | null
  resultText(outcome: Outcome): string
  /** As they are unless given. */
  progressJson?(progress: Progress): object
  resultJson?(outcome: Outcome): object
  /** An error that it knows. */
  failureOf?(error: unknown): JobFailure | null
  /** What is to be said behind the words of any other. */
  readonly whatStays: string
}

/** Progress of one phase is told this often at most. */
const progressEveryMs = 200

/** Runs a job in the background of all else and tells of it. Gives the exit code. */
export async function runDatabaseJob<Progress extends object, Outcome extends object>(
  job: DatabaseJob<Progress, Outcome>,
  { clock, print, warn, isWatched }: Pick<Terminal, 'clock' | 'print' | 'warn' | 'isWatched'>,
): Promise<number> {
  let shown = 0
  const overwrite = (text: string): void => {
    print(`\r${text.padEnd(shown)}`)
    shown = text.length
  }
  const clear = (): void => {
    if (shown > 0) print(`\r${' '.repeat(shown)}\r`)
  }
  const fail = (failure: JobFailure): number => {
    clear()
    if (job.json) print(`${JSON.stringify({ error: failure })}\n`)
    else warn(`tokenweir: ${failure.message}\n`)
    return exitCode.fault
  }
  let toldPhase: unknown
  let toldMs = Number.NEGATIVE_INFINITY
  const onProgress = (progress: Progress): void => {
    const phase = 'phase' in progress ? progress.phase : null
    if (phase === toldPhase && clock.now() - toldMs < progressEveryMs) return
    toldPhase = phase
    toldMs = clock.now()
    if (job.json) print(`${JSON.stringify(job.progressJson?.(progress) ?? progress)}\n`)
    const text = job.json || !isWatched ? null : job.progressText?.(progress)
    if (typeof text === 'string') overwrite(text)
  }
  try {
    const outcome = await job.run(onProgress)
    if (typeof outcome === 'string') return fail(absenceOf(outcome, job.db))
    if (isFailure(outcome)) return fail(outcome)
    clear()
    print(job.json ? `${JSON.stringify(job.resultJson?.(outcome) ?? outcome)}\n` : job.resultText(outcome))
    return 0
  } catch (error) {
    const stays = error instanceof StoreError ? '' : `. ${job.whatStays}`
    const message = `${job.db}: ${messageOf(error)}${stays}`
    return fail(job.failureOf?.(error) ?? { code: 'job_failed', message })
  }
}

/** Calls go before the long jobs, also if nobody but a terminal began them. */
export function inBackground<Args extends readonly unknown[], Outcome>(
  run: (...args: Args) => Promise<Outcome>,
): (...args: Args) => Promise<Outcome> {
  return (...args) => {
    lowerPriority(process.pid)
    return run(...args)
  }
}

function isFailure(outcome: object): outcome is JobFailure {
  return 'code' in outcome && 'message' in outcome
}

function absenceOf(why: StoreAbsence | 'job_running', db: string): JobFailure {
  if (why === 'job_running') {
    const message = `${db}: compress, rebuild or reprice is at work on it already, in another process.`
    return { code: 'job_running', message }
  }
  const code = why === 'missing' || why === 'empty' ? 'no_database' : 'job_failed'
  return { code, message: `${db}: ${absenceText[why]}` }
}
