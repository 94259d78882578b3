import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type {
  CompressProgress,
  CompressResult,
  DatabaseFile,
  DatabaseJob,
  JobFailure,
} from '../api/database-job.ts'
import type { Clock } from '../call/clock.ts'
import { lowerPriority } from '../lib/lower-priority.ts'
import { childEnvironment } from './child-environment.ts'
import { LineReader } from '../lib/line-reader.ts'

/** What is asked of compressing. */
export interface CompressOrder {
  readonly keepDays: number
  readonly dryRun: boolean
}

/** A compressing under way. Neither promise has to be listened to. */
export interface CompressRun {
  /** Resolves as soon as it is at work; rejects with {@link JobTrouble} where it could not begin. */
  readonly begun: Promise<DatabaseJob>
  /** Rejects with {@link JobTrouble}. */
  readonly result: Promise<CompressResult>
}

/** A job that did not begin, or came to nothing. */
export class JobTrouble extends Error {
  readonly code: JobFailure['code']

  constructor({ code, message }: JobFailure) {
    super(message)
    this.name = 'JobTrouble'
    this.code = code
  }
}

/** The jobs on the database that can be begun from the dashboard. */
export interface JobStarter {
  /** The last one that was begun here. */
  readonly last: DatabaseJob | null
  /** What they work on, as it is at the moment. */
  file(): DatabaseFile
  /** Throws {@link JobTrouble} while one that was begun here is under way. */
  compress(order: CompressOrder): CompressRun
  /** Calls back whenever `last` is another, until the returned function is called. */
  watch(onChange: () => void): () => void
}

export interface DatabaseJobsOptions {
  /** The program and its first arguments: `… db`. */
  readonly command: readonly string[]
  readonly db: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'wallTime'>
}

const keptWords = 2000

/**
 * Runs jobs as processes of their own, so that neither the dashboard nor the gateway stands still meanwhile. One
 * that is under way when the dashboard ends goes on: it does no harm, and what it has done would be done anyway.
 */
export class DatabaseJobs implements JobStarter {
  readonly #options: DatabaseJobsOptions
  readonly #watchers = new Set<() => void>()
  #last: DatabaseJob | null = null
  #child: ChildProcess | null = null

  constructor(options: DatabaseJobsOptions) {
    this.#options = options
  }

  get last(): DatabaseJob | null {
    return this.#last
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

  compress({ keepDays, dryRun }: CompressOrder): CompressRun {
    if (this.#child !== null) {
      throw new JobTrouble({ code: 'job_running', message: 'The database is being compressed already.' })
    }
    const { db, clock } = this.#options
    const args = [
      'compress',
      '--json',
      `--keep-days=${keepDays}`,
      `--db=${db}`,
      ...(dryRun ? ['--dry-run'] : []),
    ]
    const child = this.#spawn(args)
    let job: DatabaseJob = {
      job: 'compress',
      state: 'running',
      dry_run: dryRun,
      keep_days: keepDays,
      started_at: new Date(clock.wallTime()).toISOString(),
      progress: null,
      result: null,
      error: null,
    }
    this.#child = child
    this.#tell(job)
    const begun = Promise.withResolvers<DatabaseJob>()
    const result = Promise.withResolvers<CompressResult>()
    begun.promise.catch(() => undefined)
    result.promise.catch(() => undefined)
    let failure: JobFailure | null = null
    const lines = new LineReader((line) => {
      const said = readLine(line)
      if (said === null) return
      if ('error' in said) failure = said.error
      else if ('phase' in said) job = { ...job, progress: said }
      else job = { ...job, result: said }
      if (!('error' in said)) begun.resolve(job)
      // How it ended is told once it has: only then can the next one begin.
      if ('phase' in said) this.#tell(job)
    })
    child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.add(text))
    let words = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-keptWords)
    })
    const end = (how: string): void => {
      if (this.#child !== child) return
      this.#child = null
      if (job.result !== null) {
        this.#tell({ ...job, state: 'done' })
        result.resolve(job.result)
        return
      }
      const error = failure ?? { code: 'job_failed', message: words.trim() || `Compressing ${how}.` }
      this.#tell({ ...job, state: 'failed', error })
      begun.reject(new JobTrouble(error))
      result.reject(new JobTrouble(error))
    }
    child.once('error', (error) => end(`could not be started: ${error.message}`))
    child.once('close', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`))
    return { begun: begun.promise, result: result.promise }
  }

  /** Lets go of the job under way, which goes on alone. */
  close(): void {
    this.#watchers.clear()
    this.#child?.stdout?.destroy()
    this.#child?.stderr?.destroy()
    this.#child?.unref()
  }

  #spawn(args: readonly string[]): ChildProcess {
    const { command, env } = this.#options
    const [program = '', ...first] = command
    const child = spawn(program, [...first, ...args], {
      // Ctrl-C on the dashboard's terminal is not meant for it.
      detached: true,
      env: childEnvironment(env, { upstreamIsTrusted: false, adminToken: null }),
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
    if (child.pid !== undefined) lowerPriority(child.pid)
    return child
  }

  #tell(job: DatabaseJob): void {
    this.#last = job
    for (const watcher of this.#watchers) watcher()
  }
}

function bytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}

function readLine(line: string): CompressProgress | CompressResult | { readonly error: JobFailure } | null {
  try {
    const said: unknown = JSON.parse(line)
    if (typeof said !== 'object' || said === null) return null
    // Our own program's words: which of its lines it is, is all that is asked.
    if ('phase' in said) return said as CompressProgress
    if ('before_bytes' in said) return said as CompressResult
    return 'error' in said ? (said as { readonly error: JobFailure }) : null
  } catch {
    return null
  }
}
