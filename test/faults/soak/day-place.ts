import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { type UpProcess, startUpProcess } from '../../support/up-process.ts'
import { DayChores } from './day-chores.ts'
import { DayClients } from './day-clients.ts'
import { type DayUpstream, startDayUpstream } from './day-upstream.ts'
import { DayWatch, openFiles } from './day-watch.ts'

/** Slots of the gateway: at a peak calls wait. */
export const slots = 20
const drainLimitMs = 30_000
/** Descriptors that a process may hold more at the end than at the start. */
const spareFiles = 16

interface PlaceOptions {
  readonly seed: number
  /** What time of the day it is, 0 to 24. */
  readonly hour: () => number
  readonly sampleEveryMs: number
  readonly args: readonly string[]
  /** Fills the folder before anything starts there. */
  readonly prepare: (directory: string) => Promise<void>
}

/** `tokenweir up` in a folder of its own, before an upstream that answers as planned, with clients, chores and a watch. */
export interface DayPlace extends AsyncDisposable {
  readonly directory: string
  readonly databaseFile: string
  readonly up: UpProcess
  readonly port: number
  readonly clients: DayClients
  readonly upstream: DayUpstream
  readonly watch: DayWatch
  readonly chores: DayChores
  /** The gateway's status once all is recorded, what a killed one has left too. */
  readonly settled: () => ReturnType<DayChores['status']>
  /** Waits until the descriptors that calls and pages took are given back. */
  readonly filesBack: (gatewayPid: number) => Promise<FilesBack>
}

interface FilesBack {
  readonly words: string
  readonly faults: readonly string[]
}

export async function startDayPlace(options: PlaceOptions): Promise<DayPlace> {
  await using cleanup = new AsyncDisposableStack()
  const { path: directory } = cleanup.use(await makeTempDir())
  mkdirSync(join(directory, 'data'), { mode: 0o700 })
  await options.prepare(directory)
  const port = await freePort()
  const clients = new DayClients(port, seededRandom(options.seed))
  const upstream = cleanup.use(await startDayUpstream((n) => clients.calls[n]?.plan))
  cleanup.defer(() => gatewayGone(directory))
  const load = ['--upstream', upstream.baseUrl, '--port', String(port), '--max-concurrent', String(slots)]
  const up = cleanup.use(await startUpProcess({ directory, args: [...load, ...options.args] }))
  cleanup.defer(() => clients.abandon())
  const { pid: dashboardPid } = up.command
  const watched = {
    directory,
    gateway: up.gateway,
    dashboard: up.dashboard,
    dashboardPid,
    hour: options.hour,
  }
  const watch = new DayWatch(watched, options.sampleEveryMs)
  cleanup.defer(() => watch.stop())
  const chores = new DayChores(directory, up.dashboard, clients, watch)
  const first = await chores.status()
  const before = { gateway: openFiles(first.pid ?? 0), dashboard: openFiles(dashboardPid) }
  const owned = cleanup.move()
  return {
    directory,
    databaseFile: join(directory, 'data', 'llm_telemetry.db'),
    up,
    port,
    clients,
    upstream,
    watch,
    chores,
    settled: async () => {
      const endMs = performance.now() + drainLimitMs
      for (;;) {
        const status = await chores.status()
        const isQuiet = status.health?.telemetry.pending === 0 && status.predecessors.length === 0
        if (isQuiet || performance.now() > endMs) return status
        await sleep(50)
      }
    },
    filesBack: async (pid) => {
      const endMs = performance.now() + drainLimitMs
      for (;;) {
        const gateway = openFiles(pid)
        const dashboard = openFiles(dashboardPid)
        const isBack = gateway <= before.gateway + spareFiles && dashboard <= before.dashboard + spareFiles
        const words = `descriptors ${before.gateway} and ${before.dashboard} before, ${gateway} and ${dashboard} after`
        if (isBack) return { words, faults: [] }
        if (performance.now() > endMs) return { words, faults: [words] }
        await sleep(100)
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A gateway that outlives `up`, as after a second Ctrl-C, ends before its folder goes. */
async function gatewayGone(folder: string): Promise<void> {
  const endMs = performance.now() + 5000
  for (;;) {
    const pid = ownGateway(folder)
    if (pid === null) return
    if (performance.now() > endMs) process.kill(pid, 'SIGKILL')
    await sleep(50)
  }
}

function ownGateway(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, 'data', '.proxy.pid'), 'utf8'))
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder) ? pid : null
  } catch {
    return null
  }
}
