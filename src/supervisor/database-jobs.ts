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
export type JobStarter = Pick<
  DatabaseJobs,
  'last' | 'lastReprice' | 'file' | 'compress' | 'reprice' | 'watch'
>

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
  /** The last compressing that was begun here. */
  last: DatabaseJob | null = null
  /** The last re-pricing that was begun here; dry ones do not count. */
  lastReprice: RepriceJob | null = null
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
    return this.#run('compress', started, {
      args: [`--keep-days=${keepDays}`, `--db=${this.#options.db}`],
      running: 'The database is being compressed already.',
      name: 'Compressing',
      progressIn: (line): CompressProgress | null => (isCompressProgress(line) ? line : null),
      resultIn: (line): CompressResult | null => (isCompressResult(line) ? line : null),
      tell: (job) => {
        this.last = job
      },
    })
  }

  /** Throws {@link JobError} while one that was begun here is under way. */
  reprice(order: RepriceOrder): JobRun<RepriceJob, RepriceResult> {
    const { dryRun, model } = order
    return this.#run<RepriceProgress, RepriceResult, RepriceJob>(
      dryRun ? 'dry reprice' : 'reprice',
      { job: 'reprice', ...this.#started(dryRun) },
      {
        args: [
          `--from=${new Date(order.fromMs).toISOString()}`,
          `--to=${new Date(order.toMs).toISOString()}`,
          `--tz=${order.timeZone}`,
          `--db=${this.#options.db}`,
          ...(model === null ? [] : [`--model=${model}`]),
          ...(order.onlyUnpriced ? ['--only-unpriced'] : []),
        ],
        running: 'Calls are being priced anew already.',
        name: 'Pricing',
        progressIn: ({ progress }) => (isRepriceProgress(progress) ? progress : null),
        resultIn: ({ result }) => (isRepriceResult(result) ? result : null),
        tell: (job) => {
          if (!dryRun) this.lastReprice = job
        },
      },
    )
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
    words: DatabaseJobWords<Progress, Result, Job>,
  ): JobRun<Job, Result> {
    if (this.#running.has(kind)) throw new JobError('job_running', words.running)
    let job = started
    const say = (change: Partial<AnyJob<Progress, Result>>): void => {
      job = { ...job, ...change }
      words.tell(job)
      for (const watcher of this.#watchers) watcher()
    }
    const begun = Promise.withResolvers<Job>()
    const dry = started.dry_run ? ['--dry-run'] : []
    const args = [started.job, '--json', ...words.args, ...dry]
    const running = runJob(this.#options, args, words, (progress) => {
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
      (error: JobError) => {
        say({ state: 'failed', error: { code: error.code, message: error.message } })
        begun.reject(error)
      },
    )
    begun.promise.catch(() => undefined)
    say({})
    return { begun: begun.promise, result }
  }
}

/** Of each kind one runs at a time; a dry run is in nobody's way. */
type JobKind = 'compress' | 'reprice' | 'dry reprice'

/** The fields that both kinds of job share. */
type AnyJob<Progress, Result> = Pick<DatabaseJob | RepriceJob, 'job' | 'state' | 'dry_run' | 'error'> & {
  readonly progress: Progress | null
  readonly result: Result | null
}

interface DatabaseJobWords<Progress, Result, Job> extends JobWords<Progress, Result> {
  readonly args: readonly string[]
  /** Why no other may begin. */
  readonly running: string
  readonly tell: (job: Job) => void
}

const isCompressProgress = record<CompressProgress>({
  phase: isOneOf(['roll_up', 'fold', 'give_back']),
  done: isAmount,
  total: isAmount,
})

const isCompressResult = record<CompressResult>({
  before_bytes: isAmount,
  after_bytes: isAmount,
  folded_calls: isAmount,
  duration_ms: isAmount,
})

const isRepriceProgress = record<RepriceProgress>({
  done: isAmount,
  total: isAmount,
})

const sums = {
  calls: isAmount,
  before_usd: nullable(isNumber),
  after_usd: nullable(isNumber),
  newly_priced: isAmount,
  newly_unpriced: isAmount,
}

const isRepriceResult = record<RepriceResult>({
  ...sums,
  days: listOf(record<RepriceDay>({ ...sums, day: isText, model: nullable(isText) })),
  looked_calls: isAmount,
  reported_calls: isAmount,
  duration_ms: isAmount,
})

function bytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}
