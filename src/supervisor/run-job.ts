import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import * as v from 'valibot'
import type { JobFailure } from '../api/database-job.ts'
import { lineReader } from '../lib/line-reader.ts'
import { lowerPriority } from '../lib/process/lower-priority.ts'
import { fits } from '../lib/message-schema.ts'
import { isObject, onMessage, type Shape } from '../lib/message-shape.ts'
import { CodedError, messageOf } from '../lib/errors.ts'
import { childEnvironment } from './child-environment.ts'

/** The program and environment of jobs. */
export interface JobCommand {
  /** The program and its first arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A job's name, and the shapes of its output: each line is a JSON object, or has one in `progress` or `result`. */
export interface JobDescription<Progress, Result> {
  /** Begins the sentence "… ended with exit code 1." */
  readonly name: string
  readonly progress?: Shape<Progress>
  readonly result: Shape<Result>
}

/** A running job. */
export interface RunningJob<Result> {
  /** Settles when the process has ended, because only then the next job can begin. Rejects with {@link JobError}. */
  readonly result: Promise<Result>
  /** Detaches the job, which continues alone. */
  readonly detach: () => void
}

/** A job that did not begin, or failed. */
export class JobError extends CodedError<JobFailure['code']> {}

/** Longest part of a job's error output that is kept, in characters. */
const longestErrorText = 2000

/** A `tokenweir` process, and the end of its error output. */
export interface JobProgram {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly errorText: () => string
}

/**
 * Starts a process with a low priority. Throws {@link JobError} for arguments that the system refuses, and while too
 * many files are open.
 */
export function startProgram({ command, env }: JobCommand, args: readonly string[]): JobProgram {
  const [program = '', ...first] = command
  let child: JobProgram['child']
  try {
    child = spawn(program, [...first, ...args], {
      // Ctrl-C on the dashboard's terminal must not end the job.
      detached: true,
      env: childEnvironment(env),
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (error) {
    throw new JobError('job_failed', `It could not be started: ${messageOf(error)}`)
  }
  // Node makes no streams then, and reports the error later.
  if (!(child.stdout instanceof Readable)) {
    child.on('error', () => {})
    const why = 'this process has too many files open; raise the limit (ulimit -n)'
    throw new JobError('job_failed', `It could not be started: ${why}.`)
  }
  if (child.pid !== undefined) lowerPriority(child.pid)
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-longestErrorText)
  })
  return { child, errorText: () => words.trim() }
}

/** Runs a job in a separate process. */
export function runJob<Progress, Result>(
  job: JobCommand,
  args: readonly string[],
  { name, progress: isProgress, result: isResult }: JobDescription<Progress, Result>,
  onProgress: (progress: Progress) => void = () => {},
): RunningJob<Result> {
  const { child, errorText: words } = startProgram(job, args)
  let done: Result | null = null
  let failure: JobError | null = null
  const onLine = onMessage(isObject, (line) => {
    const { progress = line, result = line } = line
    if (isProgress?.(progress) === true) onProgress(progress)
    if (isResult(result)) done = result
    failure ??= failureIn(line['error'])
  })
  child.stdout.setEncoding('utf8').on('data', lineReader(onLine))
  const { promise: result, resolve, reject } = Promise.withResolvers<Result>()
  const end = (how: string): void => {
    const message = words() || `${name} ${how}.`
    if (done !== null) resolve(done)
    else reject(failure ?? new JobError('job_failed', message))
  }
  child.once('error', (error) => end(`could not be started: ${error.message}`))
  child.once('close', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`))
  return {
    result,
    detach: () => {
      child.stdout.destroy()
      child.stderr.destroy()
      child.unref()
    },
  }
}

const isFailure = fits(
  v.object({ code: v.string(), message: v.string(), data: v.optional(v.record(v.string(), v.string())) }),
)
const isKnownCode = fits(
  v.picklist(['job_running', 'no_database', 'folded_range', 'broken_price_file', 'job_failed']),
)

/** The failure in an output line; `null` without one. An unknown code becomes `job_failed`. */
function failureIn(value: unknown): JobError | null {
  if (!isFailure(value)) return null
  const { code, message, data = null } = value
  return new JobError(isKnownCode(code) ? code : 'job_failed', message, { data })
}
