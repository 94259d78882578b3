import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type {
  CompressProgress,
  CompressResult,
  DatabaseFile,
  DatabaseJob,
  JobFailure,
} from '../api/database-job.ts'
import type { RepriceJob, RepriceResult } from '../api/costs.ts'
import type { Clock } from '../call/clock.ts'
import {
  failureIn,
  isCompressProgress,
  isCompressResult,
  isRepriceProgress,
  isRepriceResult,
} from './job-lines.ts'
import { JobProcess } from './job-process.ts'

/** What is asked of compressing. */
export interface CompressOrder {
  readonly keepDays: number
  readonly dryRun: boolean
}

/** What is asked of re-pricing. */
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
  /** Resolves as soon as it is at work; rejects with {@link JobError} where it could not begin. */
  readonly begun: Promise<Job>
  /** Rejects with {@link JobError}. */
  readonly result: Promise<Result>
}

/** A job that did not begin, or came to nothing. */
export class JobError extends Error {
  readonly code: JobFailure['code']

  constructor({ code, message }: JobFailure) {
    super(message)
    this.name = 'JobError'
    this.code = code
  }
}

/** The jobs on the database that can be begun from the dashboard. */
export interface JobStarter {
  /** The last compressing that was begun here. */
  readonly last: DatabaseJob | null
  /** The last re-pricing that was begun here; dry ones do not count. */
  readonly lastReprice: RepriceJob | null
  /** What they work on, as it is at the moment. */
  file(): DatabaseFile
  /** Throws {@link JobError} while one that was begun here is under way. */
  compress(order: CompressOrder): JobRun<DatabaseJob, CompressResult>
  /** Throws {@link JobError} while one that was begun here is under way. */
  reprice(order: RepriceOrder): JobRun<RepriceJob, RepriceResult>
  /** Calls back whenever one of the last jobs is another, until the returned function is called. */
  watch(onChange: () => void): () => void
}

export interface DatabaseJobsOptions {
  /** The program and its first arguments: `… db`. */
  readonly command: readonly string[]
  readonly db: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'wallTime'>
}

/**
 * Runs jobs as processes of their own, so that neither the dashboard nor the gateway stands still meanwhile. One
 * that is under way when the dashboard ends goes on: it does no harm, and what it has done would be done anyway.
 */
export class DatabaseJobs implements JobStarter {
  readonly #options: DatabaseJobsOptions
  readonly #watchers = new Set<() => void>()
  readonly #running = new Map<JobKind, JobProcess>()
  #last: DatabaseJob | null = null
  #lastReprice: RepriceJob | null = null

  constructor(options: DatabaseJobsOptions) {
    this.#options = options
  }

  get last(): DatabaseJob | null {
    return this.#last
  }

  get lastReprice(): RepriceJob | null {
    return this.#lastReprice
  }

  file(): DatabaseFile {
    const { db } = this.#options
    const bytes = bytesOf(db)
    return { file: resolve(db), bytes: bytes === null ? null : bytes + (bytesOf(`${db}-wal`) ?? 0) }
  }

  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  compress({ keepDays, dryRun }: CompressOrder): JobRun<DatabaseJob, CompressResult> {
    const dry = dryRun ? ['--dry-run'] : []
    const args = ['compress', '--json', `--keep-days=${keepDays}`, `--db=${this.#options.db}`, ...dry]
    const job: DatabaseJob = { ...newJob('compress', dryRun, this.#startedAt()), keep_days: keepDays }
    return this.#run('compress', args, job, {
      running: 'The database is being compressed already.',
      name: 'Compressing',
      progressIn: (said): CompressProgress | null => (isCompressProgress(said) ? said : null),
      resultIn: (said): CompressResult | null => (isCompressResult(said) ? said : null),
      tell: (told) => {
        this.#last = told
      },
    })
  }

  reprice(order: RepriceOrder): JobRun<RepriceJob, RepriceResult> {
    const { dryRun, model, onlyUnpriced, timeZone } = order
    const args = [
      'reprice',
      '--json',
      `--from=${new Date(order.fromMs).toISOString()}`,
      `--to=${new Date(order.toMs).toISOString()}`,
      `--tz=${timeZone}`,
      `--db=${this.#options.db}`,
      ...(model === null ? [] : [`--model=${model}`]),
      ...(onlyUnpriced ? ['--only-unpriced'] : []),
      ...(dryRun ? ['--dry-run'] : []),
    ]
    const job: RepriceJob = newJob('reprice', dryRun, this.#startedAt())
    return this.#run(dryRun ? 'dry reprice' : 'reprice', args, job, {
      running: 'Calls are being priced anew already.',
      name: 'Pricing',
      progressIn: ({ progress }) => (isRepriceProgress(progress) ? progress : null),
      resultIn: ({ result }) => (isRepriceResult(result) ? result : null),
      tell: (told) => {
        if (!dryRun) this.#lastReprice = told
      },
    })
  }

  /** Lets go of the jobs under way, which go on alone. */
  close(): void {
    this.#watchers.clear()
    for (const running of this.#running.values()) running.leave()
  }

  #startedAt(): string {
    return new Date(this.#options.clock.wallTime()).toISOString()
  }

  #run<Progress, Result, Job extends AnyJob<Progress, Result>>(
    kind: JobKind,
    args: readonly string[],
    started: Job,
    { running, name, progressIn, resultIn, tell }: JobWords<Progress, Result, Job>,
  ): JobRun<Job, Result> {
    if (this.#running.has(kind)) throw new JobError({ code: 'job_running', message: running })
    let job = started
    let failure: JobFailure | null = null
    const begun = Promise.withResolvers<Job>()
    const result = Promise.withResolvers<Result>()
    begun.promise.catch(() => undefined)
    result.promise.catch(() => undefined)
    const say = (told: Job): void => {
      tell(told)
      for (const watcher of this.#watchers) watcher()
    }
    const child = new JobProcess(this.#options, args, {
      said: (said) => {
        const progress = progressIn(said)
        const done = resultIn(said)
        if (progress !== null) job = { ...job, progress }
        else if (done !== null) job = { ...job, result: done }
        else failure ??= failureIn(said['error'])
        if (progress !== null || done !== null) begun.resolve(job)
        // How it ended is told once it has: only then can the next one begin.
        if (progress !== null) say(job)
      },
      ended: (how, words) => {
        this.#running.delete(kind)
        if (job.result !== null) {
          say({ ...job, state: 'done' })
          result.resolve(job.result)
          return
        }
        const error = failure ?? { code: 'job_failed' as const, message: words || `${name} ${how}.` }
        say({ ...job, state: 'failed', error })
        begun.reject(new JobError(error))
        result.reject(new JobError(error))
      },
    })
    this.#running.set(kind, child)
    say(job)
    return { begun: begun.promise, result: result.promise }
  }
}

/** Of each kind one runs at a time; a dry run is in nobody's way. */
type JobKind = 'compress' | 'reprice' | 'dry reprice'

/** What jobs have in common. */
interface AnyJob<Progress, Result> {
  readonly state: 'running' | 'done' | 'failed'
  readonly progress: Progress | null
  readonly result: Result | null
  readonly error: JobFailure | null
}

/** How a job is told of, and what its lines say. */
interface JobWords<Progress, Result, Job> {
  /** Why no other may begin. */
  readonly running: string
  readonly name: string
  readonly progressIn: (said: Readonly<Record<string, unknown>>) => Progress | null
  readonly resultIn: (said: Readonly<Record<string, unknown>>) => Result | null
  readonly tell: (job: Job) => void
}

function newJob<Name extends string>(
  job: Name,
  dryRun: boolean,
  startedAt: string,
): {
  readonly job: Name
  readonly state: 'running'
  readonly dry_run: boolean
  readonly started_at: string
  readonly progress: null
  readonly result: null
  readonly error: null
} {
  return {
    job,
    state: 'running',
    dry_run: dryRun,
    started_at: startedAt,
    progress: null,
    result: null,
    error: null,
  }
}

function bytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}
