import { type ChildProcess, spawn } from 'node:child_process'
import { LineReader } from '../lib/line-reader.ts'
import { isObject, onMessage } from '../lib/message-shape.ts'
import { lowerPriority } from '../lib/lower-priority.ts'
import { childEnvironment } from './child-environment.ts'

/** What a job is started with. */
export interface JobCommand {
  /** The program and its first arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What is heard of a job. */
export interface JobListener {
  /** A line of its output that is a JSON object. */
  readonly said: (line: Readonly<Record<string, unknown>>) => void
  /** How it ended, to be put behind the job's name, and the last words that were no lines. Once. */
  readonly ended: (how: string, words: string) => void
}

const keptWords = 2000

/** A program of ours at work, as a process of its own that is no more urgent than anything else. */
export class JobProcess {
  readonly #child: ChildProcess

  constructor({ command, env }: JobCommand, args: readonly string[], { said, ended }: JobListener) {
    const [program = '', ...first] = command
    const child = spawn(program, [...first, ...args], {
      // Ctrl-C on the dashboard's terminal is not meant for it.
      detached: true,
      env: childEnvironment(env, { upstreamIsTrusted: false, adminToken: null }),
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.#child = child
    if (child.pid !== undefined) lowerPriority(child.pid)
    const lines = new LineReader(onMessage(isObject, said))
    child.stdout.setEncoding('utf8').on('data', (text: string) => lines.add(text))
    let words = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-keptWords)
    })
    let isOver = false
    const end = (how: string): void => {
      if (isOver) return
      isOver = true
      ended(how, words.trim())
    }
    child.once('error', (error) => end(`could not be started: ${error.message}`))
    child.once('close', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`))
  }

  /** Lets go of it: it goes on alone. */
  leave(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#child.unref()
  }
}
