import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CompressProgress, CompressResult, DatabaseFile, DatabaseJob } from '../api/database-job.ts'
import type { RepriceDay, RepriceJob, RepriceProgress, RepriceResult } from '../api/costs.ts'
import type { Clock } from '../call/clock.ts'
import { isAmount, isNumber, isOneOf, isText, listOf, nullable, record } from '../lib/message-shape.ts'
import { JobError, type JobCommand, type JobWords, type RunningJob, runJob } from './run-job.ts'

/** The arguments of compressing. */
export interface CompressOrder {
  readonly keepDays: number
  readonly dryRun: boolean
}

/** The arguments of re-pricing. */
export interface RepriceOrder {
  readonly fromMs: number
  readonly toMs: number
  readonly model: string | null
  readonly onlyUnpriced: boolean
  readonly dryRun: boolean
  readonly timeZone: string
}

/** A job under way. Neither promise has to be listened to. */
export interface JobRun<Job, Result> {
  /** Resolves as soon as it is at work; rejects with {@link JobError} if it could not begin. */
  readonly begun: Promise<Job>
  /** Rejects with {@link JobError}. */
  readonly result: Promise<Result>
}

/** The jobs on the database that can be begun from the dashboard. */
export type JobStarter = Pick<DatabaseJobs, 'last' | 'file' | 'compress' | 'reprice' | 'watch'>

/** The command is `… db`. */
export interface DatabaseJobsOptions extends JobCommand {
  readonly db: string
  readonly clock: Pick<Clock, 'wallTime'>
}

/**
 * Runs jobs as processes of their own, so that neither the dashboard nor the gateway stands still meanwhile. One
 * that is under way when the dashboard ends goes on: it does no harm, and what it has done would be done anyway.
 */
export class DatabaseJobs {
  /** The last ones that were begun here; re-pricings that are dry do not count. */
  last: { readonly compress: DatabaseJob | null; readonly reprice: RepriceJob | null } = {
    compress: null,
    reprice: null,
  }
  readonly #options: DatabaseJobsOptions
  readonly #watchers = new Set<() => void>()
  readonly #running = new Map<JobKind, RunningJob<unknown>>()

  constructor(options: DatabaseJobsOptions) {
    this.#options = options
  }

  /** The file that they work on, as it is at the moment. */
  file(): DatabaseFile {
    const { db } = this.#options
    const bytes = bytesOf(db)
    return { file: resolve(db), bytes: bytes === null ? null : bytes + (bytesOf(`${db}-wal`) ?? 0) }
  }

  /** Calls back whenever one of the last jobs is another, until the returned function is called. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  /** Throws {@link JobError} while one that was begun here is under way. */
  compress({ keepDays, dryRun }: CompressOrder): JobRun<DatabaseJob, CompressResult> {
    const started: DatabaseJob = { job: 'compress', keep_days: keepDays, ...this.#started(dryRun) }
    return this.#run('compress', started, [`--keep-days=${keepDays}`], compressing)
  }

  /** Throws {@link JobError} while one that was begun here is under way. */
  reprice(order: RepriceOrder): JobRun<RepriceJob, RepriceResult> {
    const { fromMs, toMs, model, onlyUnpriced, dryRun, timeZone } = order
    const started: RepriceJob = { job: 'reprice', ...this.#started(dryRun) }
    const args = [
      `--from=${new Date(fromMs).toISOString()}`,
      `--to=${new Date(toMs).toISOString()}`,
      `--tz=${timeZone}`,
      ...(model === null ? [] : [`--model=${model}`]),
      ...(onlyUnpriced ? ['--only-unpriced'] : []),
    ]
    return this.#run(dryRun ? 'dry reprice' : 'reprice', started, args, pricing)
  }

  /** Lets go of the jobs under way, which go on alone. */
  close(): void {
    this.#watchers.clear()
    for (const running of this.#running.values()) running.leave()
  }

  /** The fields that all jobs share, as they are at the beginning. */
  #started(dryRun: boolean) {
    const started_at = new Date(this.#options.clock.wallTime()).toISOString()
    const nothing = { progress: null, result: null, error: null }
    return { state: 'running', dry_run: dryRun, started_at, ...nothing } as const
  }

  #run<Progress, Result, Job extends AnyJob<Progress, Result>>(
    kind: JobKind,
    started: Job,
    args: readonly string[],
    words: DatabaseJobWords<Progress, Result>,
  ): JobRun<Job, Result> {
    if (this.#running.has(kind)) throw new JobError('job_running', words.running)
    let job = started
    const say = (change: Partial<AnyJob<Progress, Result>>): void => {
      job = { ...job, ...change }
      if (kind !== 'dry reprice') this.last = { ...this.last, [kind]: job }
      for (const watcher of this.#watchers) watcher()
    }
    const begun = Promise.withResolvers<Job>()
    const dry = started.dry_run ? ['--dry-run'] : []
    const allArgs = [started.job, '--json', ...args, `--db=${this.#options.db}`, ...dry]
    const running = runJob(this.#options, allArgs, words, (progress) => {
      say({ progress })
      begun.resolve(job)
    })
    this.#running.set(kind, running)
    const result = running.result.finally(() => this.#running.delete(kind))
    result.then(
      (done) => {
        say({ state: 'done', result: done })
        begun.resolve(job)
      },
      ({ code, message }: JobError) => say({ state: 'failed', error: { code, message } }),
    )
    result.catch(begun.reject)
    begun.promise.catch(() => undefined)
    say({})
    return { begun: begun.promise, result }
  }
}

/** Of each kind one runs at a time; a dry run is in nobody's way. */
type JobKind = 'compress' | 'reprice' | 'dry reprice'

type AnyJob<Progress, Result> = Pick<DatabaseJob | RepriceJob, 'job' | 'state' | 'dry_run' | 'error'> & {
  readonly progress: Progress | null
  readonly result: Result | null
}

interface DatabaseJobWords<Progress, Result> extends JobWords<Progress, Result> {
  /** Why no other may begin. */
  readonly running: string
}

const compressing: DatabaseJobWords<CompressProgress, CompressResult> = {
  running: 'The database is being compressed already.',
  name: 'Compressing',
  progress: record<CompressProgress>({
    phase: isOneOf(['roll_up', 'fold', 'give_back']),
    done: isAmount,
    total: isAmount,
  }),
  result: record<CompressResult>({
    before_bytes: isAmount,
    after_bytes: isAmount,
    folded_calls: isAmount,
    duration_ms: isAmount,
  }),
}

const sums = {
  calls: isAmount,
  before_usd: nullable(isNumber),
  after_usd: nullable(isNumber),
  newly_priced: isAmount,
  newly_unpriced: isAmount,
}

const pricing: DatabaseJobWords<RepriceProgress, RepriceResult> = {
  running: 'Calls are being priced anew already.',
  name: 'Pricing',
  progress: record<RepriceProgress>({ done: isAmount, total: isAmount }),
  result: record<RepriceResult>({
    ...sums,
    days: listOf(record<RepriceDay>({ ...sums, day: isText, model: nullable(isText) })),
    looked_calls: isAmount,
    reported_calls: isAmount,
    duration_ms: isAmount,
  }),
}

function bytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}
