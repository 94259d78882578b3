import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Condition } from './condition.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const stopLimitMs = 20_000

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface CommandProcessOptions {
  readonly args: readonly string[]
  /** Its working directory. */
  readonly directory: string
  /** Added to this process's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The command's file; this tree's own unless told. */
  readonly file?: string
  /** Options for node itself, before the command's file. */
  readonly nodeArgs?: readonly string[]
  /** A program and its arguments that start node as their one child, such as `newPidNamespace`. */
  readonly launcher?: readonly string[]
}

/** Starts a program as the first process of a PID namespace of its own, if {@link canMakeNamespaces}. */
export const newPidNamespace = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] as const

export function canMakeNamespaces(): boolean {
  const [name, ...args] = newPidNamespace
  return spawnSync(name, [...args, 'true']).status === 0
}

/** The `tokenweir` command in a process of its own. */
export interface CommandProcess extends AsyncDisposable {
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<ProcessExit>
  /** Waits until the output matches; rejects with the output when the process ends without. */
  waitForOutput(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>
  /** A signal, and waits for the end; rejects if it takes over twenty seconds. */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>
}

/** `await using up = startCommandProcess({ args: ['up'], directory })`; killed at the end if it still runs. */
export function startCommandProcess(options: CommandProcessOptions): CommandProcess {
  const { args, directory, env, file = command, nodeArgs = [], launcher = [] } = options
  const [program = '', ...rest] = [...launcher, process.execPath, ...nodeArgs, file, ...args]
  const child = spawn(program, rest, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const condition = new Condition()
  let stdout = ''
  let stderr = ''
  let exit: ProcessExit | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    condition.changed()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    condition.changed()
  })
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('close', (code, signal) => {
      exit = { code, signal }
      resolve(exit)
      condition.changed()
    })
  })

  const waitForOutput = async (pattern: RegExp, limitMs?: number): Promise<RegExpExecArray> => {
    const look = (): RegExpExecArray | null | undefined =>
      pattern.exec(stdout + stderr) ?? (exit === undefined ? undefined : null)
    const found = await condition.until(look, `output like ${pattern}`, limitMs).catch(() => null)
    if (found !== null) return found
    const how = exit === undefined ? 'did not print' : `ended with ${exit.code ?? exit.signal} before`
    throw new Error(`${args.join(' ')} ${how} ${pattern}\nstdout: ${stdout}\nstderr: ${stderr}`)
  }

  return {
    pid: child.pid!,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    exited,
    waitForOutput,
    stop: (signal = 'SIGTERM') => {
      if (launcher.length === 0) child.kill(signal)
      else for (const pid of childrenOf(child.pid!)) process.kill(pid, signal)
      return condition.until(() => exit, `${args[0]} to end`, stopLimitMs)
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
}
