import { statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import {
  CompressProgress,
  CompressResult,
  type DatabaseFile,
  type DatabaseJob,
  type RepriceJob,
  RepriceProgress,
  RepriceResult,
  type ExportFormat,
} from '../api/database-job.ts'
import type { CallFilter } from '../call/call-filter.ts'
import { type PriceSync, SyncResult } from '../api/costs.ts'
import type { EventData } from '../api/dashboard-event.ts'
import type { Clock } from '../call/clock.ts'
import { orNull } from '../lib/errors.ts'
import { fits } from '../lib/message-schema.ts'
import { exportedBy, filterArguments } from './run-export.ts'
import {
  JobError,
  type JobCommand,
  type JobDescription,
  type RunningJob,
  runJob,
  startProgram,
} from './run-job.ts'

/** The arguments of re-pricing. */
export interface RepriceOrder {
  readonly fromMs: number
  readonly toMs: number
  readonly model: string | null
  readonly onlyUnpriced: boolean
  readonly dryRun: boolean
  readonly timeZone: string
}

/** A running job. A rejection of its promises needs no handler. */
export interface JobRun<Started, Result> {
  /** Resolves with the first progress; rejects with {@link JobError} if the job could not begin. */
  readonly begun: Promise<Started>
  /** Rejects with {@link JobError}. */
  readonly result: Promise<Result>
}

/** The jobs that the dashboard can start. */
export type JobStarter = Pick<
  Jobs,
  'last' | 'sync' | 'file' | 'compress' | 'export' | 'reprice' | 'startSync' | 'watch'
>

/** Most exports at once: each is a process that reads at the speed of its reader. */
const mostExports = 3

/** The options of {@link Jobs}. The command is `tokenweir`, without a subcommand. */
export interface JobsOptions extends JobCommand {
  readonly db: string
  /** A URL or a path. */
  readonly pricingSource: string
  readonly clock: Pick<Clock, 'wallTime'>
}

/**
 * Runs jobs as separate processes, so that neither the dashboard nor the gateway is blocked. A job continues
 * when the dashboard ends.
 */
export class Jobs {
  /** The last jobs that were started here, without dry runs of a re-pricing. */
  last: Required<EventData['jobs']> = { compress: null, reprice: null }
  /** The state of the price sync; null if the price file has the state. */
  sync: PriceSync | null = null
  readonly #options: JobsOptions
  readonly #watchers = new Set<() => void>()
  readonly #running = new Map<JobKind, RunningJob<unknown>>()
  #exports = 0

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** The database file of the jobs, at present. */
  file(): DatabaseFile {
    const { db } = this.#options
    const bytes = bytesOf(db)
    return {
      file: resolve(db),
      bytes: bytes === null ? null : bytes + (bytesOf(`${db}-wal`) ?? 0),
      disk_free_bytes: bytes === null ? null : freeBytesOf(dirname(db)),
    }
  }

  /** Calls back on every change of the last jobs, until the returned function is called. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  /** Throws {@link JobError} while a job of this kind runs. */
  compress(keepDays: number, dryRun: boolean): JobRun<DatabaseJob, CompressResult> {
    const started: DatabaseJob = { job: 'compress', keep_days: keepDays, ...this.#started(dryRun) }
    return this.#run('compress', started, [`--keep-days=${keepDays}`], compressing)
  }

  /** The calls of a filter as a file; resolves with its first bytes. Rejects with {@link JobError}. */
  async export(format: ExportFormat, filter: CallFilter): Promise<Readable> {
    if (this.#exports >= mostExports)
      throw new JobError('job_running', `${mostExports} exports are under way.`)
    if (this.file().bytes === null) throw new JobError('no_database', 'There is no database yet.')
    const args = [`--format=${format}`, `--db=${this.#options.db}`, ...filterArguments(filter)]
    const program = startProgram(this.#options, ['db', 'export', ...args])
    this.#exports += 1
    return exportedBy(program, () => {
      this.#exports -= 1
    })
  }

  /** Throws {@link JobError} while a job of this kind runs. */
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

  /** Starts a sync of prices; false if one is running. */
  startSync(): boolean {
    if (this.#running.has('sync')) return false
    const { db, pricingSource } = this.#options
    const begun = { started_at: this.#now(), added: 0, changed: 0, removed: 0 }
    this.sync = { ...begun, state: 'running', finished_at: null, last_error: null }
    const args = ['costs', 'sync', '--json', `--pricing-source=${pricingSource}`, `--db=${db}`]
    const running = runJob(this.#options, args, { name: 'The sync', result: fits(SyncResult) })
    this.#running.set('sync', running)
    const end = (sync: PriceSync | null): void => {
      this.#running.delete('sync')
      this.sync = sync
    }
    running.result.then(
      // After a success, the price file has the state.
      () => end(null),
      ({ message }: JobError) =>
        end({ ...begun, state: 'idle', finished_at: this.#now(), last_error: message }),
    )
    return true
  }

  /** Detaches running jobs, which continue alone. */
  close(): void {
    this.#watchers.clear()
    for (const running of this.#running.values()) running.detach()
  }

  /** The fields of all jobs at their start. */
  #started(dryRun: boolean) {
    const started_at = this.#now()
    const idle = { progress: null, result: null, error: null }
    return { state: 'running', dry_run: dryRun, started_at, ...idle } as const
  }

  #now(): string {
    return new Date(this.#options.clock.wallTime()).toISOString()
  }

  #run<Progress, Result, Started extends Job<Progress, Result>>(
    kind: JobKind,
    started: Started,
    args: readonly string[],
    words: DatabaseJobDescription<Progress, Result>,
  ): JobRun<Started, Result> {
    if (this.#running.has(kind)) throw new JobError('job_running', words.running)
    let job = started
    const say = (change: Partial<Job<Progress, Result>>): void => {
      job = { ...job, ...change }
      if (kind !== 'dry reprice') this.last = { ...this.last, [kind]: job }
      for (const watcher of this.#watchers) watcher()
    }
    const begun = Promise.withResolvers<Started>()
    const dry = started.dry_run ? ['--dry-run'] : []
    const allArgs = ['db', started.job, '--json', ...args, `--db=${this.#options.db}`, ...dry]
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

/** The kinds of jobs. At most one job of each kind runs at a time; a dry run blocks no other. */
type JobKind = 'compress' | 'reprice' | 'dry reprice' | 'sync'

interface Job<Progress, Result> extends Omit<DatabaseJob | RepriceJob, 'progress' | 'result'> {
  readonly progress: Progress | null
  readonly result: Result | null
}

interface DatabaseJobDescription<Progress, Result> extends JobDescription<Progress, Result> {
  /** The refusal while a job of this kind runs. */
  readonly running: string
}

const compressing: DatabaseJobDescription<CompressProgress, CompressResult> = {
  running: 'The database is being compressed already.',
  name: 'Compressing',
  progress: fits(CompressProgress),
  result: fits(CompressResult),
}

const pricing: DatabaseJobDescription<RepriceProgress, RepriceResult> = {
  running: 'A recalculation of costs is already running.',
  name: 'Pricing',
  progress: fits(RepriceProgress),
  result: fits(RepriceResult),
}

function bytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}

function freeBytesOf(folder: string): number | null {
  const disk = orNull(() => statfsSync(folder))
  return disk && disk.bavail * disk.bsize
}
