import { readFile } from 'node:fs/promises'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { type CommandProcess, startCommandProcess } from './command-process.ts'
import { expectDocumented } from './documented.ts'
import { makeTempDir } from './temp-dir.ts'

const dashboardOn = /dashboard (?:listening )?on (http:\/\/[\w.]+:(\d+))/
const startLimitMs = 30_000
const stopLimitMs = 60_000

export interface DashboardProcessOptions {
  /** Where it listens; any free port unless told, and 127.0.0.1. */
  readonly port?: number
  readonly host?: string
  /** Further command-line options. */
  readonly args?: readonly string[]
  /** Added to this process's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where its files lie; a directory of its own, removed at the end, unless given. */
  readonly directory?: string
}

/** The real `tokenweir dashboard` in a process of its own. The gateway that it starts ends with it. */
export interface DashboardProcess extends AsyncDisposable {
  readonly command: CommandProcess
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Its working directory. */
  readonly directory: string
  /** The gateway's status, by the dashboard. */
  status(): Promise<ProcessStatus>
  /** Asks it as a program on this machine would, with the admin token where it has one. */
  ask(method: string, path: string, body?: unknown): Promise<Response>
}

/** `await using dashboard = await startDashboardProcess()`; rejects with its output if it does not come up. */
export async function startDashboardProcess(
  options: DashboardProcessOptions = {},
): Promise<DashboardProcess> {
  const { port = 0, host = '127.0.0.1', args = [], env = {} } = options
  await using cleanup = new AsyncDisposableStack()
  const directory = options.directory ?? cleanup.use(await makeTempDir()).path
  cleanup.defer(() => killGateway(directory))
  const own = ['dashboard', '--port', String(port), '--host', host]
  // The gateway's options that a page can change are left free.
  const gateways = ['--gateway-port', '0', '--gateway-host', '127.0.0.1', '--drain-timeout-ms', '2000']
  const command = cleanup.use(startCommandProcess({ args: [...own, ...gateways, ...args], directory, env }))
  const found = await command.waitForOutput(dashboardOn, startLimitMs)
  const origin = `http://127.0.0.1:${found[2]}`

  const token = env['TOKENWEIR_ADMIN_TOKEN']
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    limitMs = stopLimitMs,
  ): Promise<Response> => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-tokenweir-admin-token': token }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(limitMs),
    })
    const { status } = answer
    const contentType = answer.headers.get('content-type')
    const isJson = contentType?.startsWith('application/json') === true
    const text = isJson ? await answer.clone().text() : undefined
    expectDocumented({ method, target: path, status, contentType, body: text })
    return answer
  }
  // Whatever comes of it: a gateway that it leaves is killed.
  cleanup.defer(async () => void (await ask('POST', '/api/proxy/stop').catch(() => undefined)))
  const owned = cleanup.move()

  return {
    command,
    port: Number(found[2]),
    origin,
    directory,
    status: async () => (await (await ask('GET', '/api/proxy/status')).json()) as ProcessStatus,
    ask: (method, path, body) => ask(method, path, body),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The gateway outlives its dashboard, and must not outlive the test. */
async function killGateway(directory: string): Promise<void> {
  const text = await readFile(`${directory}/data/.proxy.pid`, 'utf8').catch(() => '')
  const pid = /^[1-9]\d{0,9}$/.exec(text.trim())?.[0]
  if (pid === undefined) return
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
