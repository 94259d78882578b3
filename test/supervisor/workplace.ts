import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../../src/call/clock.ts'
import { parseOptions } from '../../src/cli/parse-options.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { GatewayConfig } from '../../src/supervisor/gateway-config.ts'
import { codeOf } from '../../src/lib/errors.ts'
import type { SupervisorLimits } from '../../src/supervisor/gateway-finder.ts'
import { LogFile } from '../../src/supervisor/log-file.ts'
import { SupervisedGateway } from '../../src/supervisor/supervised-gateway.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { eventually } from '../support/eventually.ts'

/** Where a test is not about limits: whatever stands still for a while on a busy machine is waited for. */
const patient: SupervisorLimits = {
  answerMs: 20_000,
  startMs: 60_000,
  acceptStopMs: 20_000,
  afterDrainMs: 20_000,
}

const bin = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

/** How the real gateway is started. */
export const gatewayCommand: readonly string[] = [process.execPath, bin, 'gateway']

/** The real gateway; `hook` is run when it tells its parent something, which is the `message`. */
export function hookedCommand(hook: string): readonly string[] {
  // Threads load it too, and have no parent.
  const preload = `
    const send = process.send?.bind(process)
    if (send !== undefined) process.send = (message, ...rest) => {
      ${hook}
      return send(message, ...rest)
    }`
  return preloading(preload)
}

/** The real gateway, which begins once there is a file. */
export function commandThatWaitsFor(path: string): readonly string[] {
  const wait = `const { existsSync } = process.getBuiltinModule('node:fs')
    while (!existsSync(${JSON.stringify(path)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)`
  return preloading(wait)
}

/** The real gateway, which ends at once while there is a file. */
export function commandThatFailsWhile(path: string): readonly string[] {
  return preloading(
    `if (process.getBuiltinModule('node:fs').existsSync(${JSON.stringify(path)})) process.exit(9)`,
  )
}

function preloading(script: string): readonly string[] {
  const [program = '', ...others] = gatewayCommand
  return [program, '--import', `data:text/javascript,${encodeURIComponent(script)}`, ...others]
}

export interface SupervisorOptions {
  /** Options of the gateway, after those that keep it in its folder. */
  readonly args?: readonly string[]
  /** What the gateway binds; 127.0.0.1 unless given, `null` to leave it to the settings. */
  readonly host?: string | null
  /** The environment that the supervisor passes on from; this process's own unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly limits?: Partial<SupervisorLimits>
  readonly adminToken?: string
  readonly command?: readonly string[]
  readonly clock?: Clock
}

/** A data folder of its own, and what supervises its gateway. */
export interface Workplace extends AsyncDisposable {
  readonly folder: string
  file(name: string): string
  /** Supervisors are closed at the end, and gateways of this folder killed, whoever started them. */
  supervisor(options?: SupervisorOptions): SupervisedGateway
  /** The gateways of this folder that run. */
  gateways(): readonly number[]
}

/** `await using place = await makeWorkplace()` */
export async function makeWorkplace(below = 'data'): Promise<Workplace> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  const folder = dir.file(below)
  mkdirSync(folder, { recursive: true })
  cleanup.defer(async () => {
    for (const pid of gatewaysIn(folder)) killIfThere(pid)
    // Until then it may be writing its last file.
    await eventually('all gateways to be gone', () => gatewaysIn(folder).length === 0)
  })
  const owned = cleanup.move()
  return {
    folder,
    file: (name) => join(folder, name),
    supervisor: (options = {}) => {
      const supervisor = makeSupervisor(folder, options)
      owned.defer(() => supervisor.close())
      return supervisor
    },
    gateways: () => gatewaysIn(folder),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A supervisor as a dashboard has it. */
export function makeSupervisor(folder: string, options: SupervisorOptions): SupervisedGateway {
  const env = options.env ?? process.env
  const host = options.host === undefined ? '127.0.0.1' : options.host
  const hostArgs = host === null ? [] : [`--host=${host}`]
  const args = [...filesIn(folder), ...hostArgs, ...(options.args ?? [])]
  const given = parseOptions(gatewayOptionTable, args, {})
  const hasKey = (env['UPSTREAM_API_KEY'] ?? '') !== ''
  return new SupervisedGateway({
    config: new GatewayConfig(given, join(folder, 'gateway.json'), { port: 0 }, hasKey),
    folder,
    logFile: new LogFile(join(folder, 'proxy.log')),
    clock: options.clock ?? systemClock,
    env,
    command: options.command ?? gatewayCommand,
    adminToken: options.adminToken ?? null,
    simulated: false,
    limits: { ...patient, ...options.limits },
  })
}

/** A predecessor may just be ending by itself. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** The options that keep a gateway's files in its folder. */
export function filesIn(folder: string): readonly string[] {
  return [
    `--db=${join(folder, 'telemetry.db')}`,
    `--pid-file=${join(folder, '.proxy.pid')}`,
    `--raw-log-file=${join(folder, 'payloads.jsonl')}`,
  ]
}

/** Processes whose arguments name the folder's database, which no other process does. */
function gatewaysIn(folder: string): readonly number[] {
  const wanted = `--db=${join(folder, 'telemetry.db')}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLineOf(pid).includes(wanted))
    .map(Number)
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
