import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import * as v from 'valibot'
import type { JobFailure } from '../api/database-job.ts'
import { lineReader } from '../lib/line-reader.ts'
import { lowerPriority } from '../lib/process/lower-priority.ts'
import { fits } from '../lib/message-schema.ts'
import { isObject, onMessage, type Shape } from '../lib/message-shape.ts'
import { CodedError, messageOf } from '../lib/errors.ts'
import { childEnvironment } from './child-environment.ts'

/** With what a job is started. */
export interface JobCommand {
  /** The program and its first arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** How a job is told of, and the shapes of what its lines say: each is a JSON object, in which that may have a name. */
export interface JobDescription<Progress, Result> {
  /** Begins "… ended with exit code 1." */
  readonly name: string
  readonly progress?: Shape<Progress>
  readonly result: Shape<Result>
}

/** A job at work. */
export interface RunningJob<Result> {
  /** Rejects with {@link JobError}, in either case when the process has ended: only then can the next one begin. */
  readonly result: Promise<Result>
  /** Lets go of it: it goes on alone. */
  readonly detach: () => void
}

/** A job that did not begin, or came to nothing. */
export class JobError extends CodedError<JobFailure['code']> {}

/** How many characters of what a job prints beside its lines are kept. */
const longestErrorText = 2000

/** A program of ours as a process of its own, and the last of what it says of errors. */
export interface JobProgram {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly errorText: () => string
}

/** Starts one that is no more urgent than anything else. Throws {@link JobError} for arguments that no process can be given. */
export function startProgram({ command, env }: JobCommand, args: readonly string[]): JobProgram {
  const [program = '', ...first] = command
  let child: JobProgram['child']
  try {
    child = spawn(program, [...first, ...args], {
      // Ctrl-C on the dashboard's terminal is not meant for it.
      detached: true,
      env: childEnvironment(env),
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (error) {
    throw new JobError('job_failed', `It could not be started: ${messageOf(error)}`)
  }
  if (child.pid !== undefined) lowerPriority(child.pid)
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-longestErrorText)
  })
  return { child, errorText: () => words.trim() }
}

/** Does a job in a process of its own. */
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

/** `null` if the value tells of none; a code that this version does not know is `job_failed`. */
function failureIn(value: unknown): JobError | null {
  if (!isFailure(value)) return null
  const { code, message, data = null } = value
  return new JobError(isKnownCode(code) ? code : 'job_failed', message, { data })
}
