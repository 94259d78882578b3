import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Condition } from './condition.ts'
import { type JsonRecord, asRecord } from './json-record.ts'
import { makeTempDir } from './temp-dir.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const listeningOn = /listening on (http:\/\/127\.0\.0\.1:(\d+))/
const startLimitMs = 10_000
const stopLimitMs = 10_000

export interface GatewayProcessOptions {
  /** The upstream's base URL. */
  readonly upstream: string
  /** Further command-line options, after those set here: `['--max-concurrent', '2']`. */
  readonly args?: readonly string[]
  /** Added to this process's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where its files lie; a directory of its own, removed at the end, unless given. */
  readonly directory?: string
  /** Options for node itself, before the command's file. */
  readonly nodeArgs?: readonly string[]
  /** The program to run; the real gateway unless told. */
  readonly command?: string
}

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The real gateway in a process of its own. */
export interface GatewayProcess extends AsyncDisposable {
  readonly pid: number
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** The origin and `/v1`. */
  readonly baseUrl: string
  /** Its working directory. */
  readonly directory: string
  readonly databaseFile: string
  /** All that it has printed so far. */
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<ProcessExit>
  /** The parsed body of `GET /health`. */
  health(): Promise<JsonRecord>
  /** Waits until the output matches. */
  waitForOutput(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>
  /** SIGTERM, and waits for the end; rejects if it takes over ten seconds. */
  stop(): Promise<ProcessExit>
  /** SIGKILL, and waits for the end. */
  kill9(): Promise<ProcessExit>
}

/** `await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })`; rejects with its output if it does not come up. */
export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  await using cleanup = new AsyncDisposableStack()
  const directory = options.directory ?? cleanup.use(await makeTempDir()).path
  const databaseFile = `${directory}/telemetry.db`
  const fixed = ['--port', '0', '--host', '127.0.0.1', '--upstream', options.upstream]
  const files = ['--db', databaseFile, '--pid-file', `${directory}/gateway.pid`]
  const program = [...(options.nodeArgs ?? []), options.command ?? command, 'gateway']
  const args = [...program, ...fixed, ...files, ...(options.args ?? [])]
  const env = { ...process.env, ...options.env }
  const child = spawn(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  cleanup.defer(() => end(child))

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

  const found = await condition
    .until(
      () => listeningOn.exec(stdout) ?? (exit === undefined ? undefined : null),
      'listening',
      startLimitMs,
    )
    .catch(() => null)
  if (found === null) {
    const how = exit === undefined ? 'does not listen' : `ended with ${exit.code ?? exit.signal}`
    throw new Error(`the gateway ${how}\nstdout: ${stdout}\nstderr: ${stderr}`)
  }
  const origin = found[1]!
  const owned = cleanup.move()

  return {
    pid: child.pid!,
    port: Number(found[2]),
    origin,
    baseUrl: `${origin}/v1`,
    directory,
    databaseFile,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    exited,
    health: async () => {
      const response = await fetch(`${origin}/health`)
      return asRecord(await response.json())
    },
    waitForOutput: (pattern, limitMs) =>
      condition.until(() => pattern.exec(stdout + stderr) ?? undefined, `output like ${pattern}`, limitMs),
    stop: () => {
      child.kill('SIGTERM')
      return condition.until(() => exit, 'the gateway to stop', stopLimitMs)
    },
    kill9: () => {
      child.kill('SIGKILL')
      return exited
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** SIGKILL is enough: what a test wants of an orderly stop it asks for itself. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'close')
}
