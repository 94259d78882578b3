import type { CompressLine, CompressProgress, CompressResult, JobFailure } from '../../api/database-job.ts'
import type { Clock } from '../../call/clock.ts'
import { type CompressOutcome, CompressStopped, type CompressWorld } from '../../store/jobs/compress-store.ts'
import type { CompressRequest } from '../../store/jobs/compress-store.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import { StoreError } from '../../store/sqlite/store-error.ts'
import { type CompressOptions, compressOptionTable } from './db-options.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { type Environment, parseOptions } from '../parse-options.ts'

/** What `tokenweir db compress` needs of the world. */
export interface CompressContext {
  readonly clock: Clock
  readonly compress: (
    path: string,
    request: CompressRequest,
    world: CompressWorld,
  ) => Promise<CompressOutcome | StoreAbsence | 'job_running'>
  readonly print: (text: string) => void
  readonly warn: (text: string) => void
  /** Whether `print` goes to somebody who watches. */
  readonly isTerminal: boolean
}

/** Progress is told this often at most, and at each phase's start. */
const progressEveryMs = 200

/**
 * `tokenweir db compress`: folds old calls away and gives their pages back. Gives the exit code; throws
 * `OptionError`.
 */
export async function runCompress(
  argv: readonly string[],
  env: Environment,
  context: CompressContext,
): Promise<number> {
  const options: CompressOptions = parseOptions(compressOptionTable, argv, env)
  const { keepDays, dryRun, db } = options
  const report = options.json ? new JsonReport(context) : new PlainReport(context, options)
  const onProgress = seldom(context.clock, (progress) => report.progress(progress))
  try {
    const outcome = await context.compress(db, { keepDays, dryRun }, { clock: context.clock, onProgress })
    if (typeof outcome === 'object') {
      report.result(resultOf(outcome))
      return 0
    }
    report.failure(failureOf(outcome, db))
  } catch (error) {
    report.failure({ code: 'job_failed', message: reasonOf(error, db) })
  }
  return 1
}

/** How a run is told of. */
interface Report {
  progress(progress: CompressProgress): void
  result(result: CompressResult): void
  failure(failure: JobFailure): void
}

class JsonReport implements Report {
  readonly #context: CompressContext

  constructor(context: CompressContext) {
    this.#context = context
  }

  progress(progress: CompressProgress): void {
    this.#line(progress)
  }

  result(result: CompressResult): void {
    this.#line(result)
  }

  failure(error: JobFailure): void {
    this.#line({ error })
  }

  #line(line: CompressLine): void {
    this.#context.print(`${JSON.stringify(line)}\n`)
  }
}

const phaseWords = { roll_up: 'adding up calls', fold: 'folding old calls', give_back: 'giving space back' }

class PlainReport implements Report {
  readonly #context: CompressContext
  readonly #options: CompressOptions
  #lineLength = 0

  constructor(context: CompressContext, options: CompressOptions) {
    this.#context = context
    this.#options = options
  }

  /** One line that is written over; nothing where nobody watches. */
  progress({ phase, done, total }: CompressProgress): void {
    if (!this.#context.isTerminal || total === 0) return
    const line = `${phaseWords[phase]}: ${Math.floor((100 * done) / total)} %`
    this.#context.print(`\r${line.padEnd(this.#lineLength)}`)
    this.#lineLength = line.length
  }

  result({ before_bytes, after_bytes, folded_calls, duration_ms }: CompressResult): void {
    const { keepDays, dryRun, db } = this.#options
    const calls = `${folded_calls.toLocaleString('en')} ${folded_calls === 1 ? 'call' : 'calls'}`
    const sizes = `${formatBytes(before_bytes)} → ${dryRun ? 'about ' : ''}${formatBytes(after_bytes)}`
    const line = dryRun
      ? `${calls} older than ${keepDays} days would be folded; ${db} would shrink: ${sizes}. Nothing was changed.`
      : `${calls} older than ${keepDays} days were folded in ${(duration_ms / 1000).toFixed(1)} s; ${db}: ${sizes}.`
    this.#clear()
    this.#context.print(`${line}\n`)
  }

  failure({ message }: JobFailure): void {
    this.#clear()
    this.#context.warn(`tokenweir: ${message}\n`)
  }

  #clear(): void {
    if (this.#lineLength > 0) this.#context.print(`\r${' '.repeat(this.#lineLength)}\r`)
    this.#lineLength = 0
  }
}

function resultOf({ beforeBytes, afterBytes, foldedCalls, durationMs }: CompressOutcome): CompressResult {
  return {
    before_bytes: beforeBytes,
    after_bytes: afterBytes,
    folded_calls: foldedCalls,
    duration_ms: Math.round(durationMs),
  }
}

function failureOf(why: StoreAbsence | 'job_running', db: string): JobFailure {
  if (why === 'job_running') {
    return { code: 'job_running', message: `${db} is being compressed already, by another process.` }
  }
  const code = why === 'missing' || why === 'empty' ? 'no_database' : 'job_failed'
  return { code, message: `${db}: ${absenceText[why]}` }
}

function reasonOf(error: unknown, db: string): string {
  if (error instanceof CompressStopped || error instanceof StoreError) return `${db}: ${error.message}`
  const reason = error instanceof Error ? error.message : String(error)
  return `${db}: ${reason}. What was folded so far stays folded; nothing is lost, and it can be run again.`
}

function seldom(
  clock: Pick<Clock, 'now'>,
  tell: (progress: CompressProgress) => void,
): (progress: CompressProgress) => void {
  let phase: string | null = null
  let toldMs = 0
  return (progress) => {
    if (progress.phase === phase && clock.now() - toldMs < progressEveryMs) return
    phase = progress.phase
    toldMs = clock.now()
    tell(progress)
  }
}
