import { type ProcessExit, startCommandProcess } from './command-process.ts'
import { type JsonRecord, asRecord } from './json-record.ts'
import { makeTempDir } from './temp-dir.ts'

const listeningOn = /listening on (http:\/\/127\.0\.0\.1:(\d+))/
const startLimitMs = 30_000

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
  /** A program and its arguments that start node as their one child. */
  readonly launcher?: readonly string[]
  /** The program to run; the real gateway unless told. */
  readonly command?: string
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
  /** SIGTERM, and waits for the end; rejects if it takes over twenty seconds. */
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
  const { args = [], env = {}, nodeArgs = [], launcher = [], command: file } = options
  const command = cleanup.use(
    startCommandProcess({
      args: ['gateway', ...fixed, ...files, ...args],
      directory,
      env,
      nodeArgs,
      launcher,
      ...(file === undefined ? {} : { file }),
    }),
  )
  const [, origin = '', port] = await command.waitForOutput(listeningOn, startLimitMs)
  const owned = cleanup.move()

  return {
    pid: command.pid,
    port: Number(port),
    origin,
    baseUrl: `${origin}/v1`,
    directory,
    databaseFile,
    get stdout() {
      return command.stdout
    },
    get stderr() {
      return command.stderr
    },
    exited: command.exited,
    health: async () => {
      const response = await fetch(`${origin}/health`)
      return asRecord(await response.json())
    },
    waitForOutput: (pattern, limitMs) => command.waitForOutput(pattern, limitMs),
    stop: () => command.stop('SIGTERM'),
    kill9: () => command.stop('SIGKILL'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
