import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeTempDir } from '../support/temp-dir.ts'

const bin = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

export const stopCommands = ['up', 'demo', 'gateway', 'dashboard'] as const
/**
 * - `twice`: Ctrl-C, and once more soon.
 * - `group`: SIGTERM to all processes of the terminal's group, as `timeout` sends it.
 * - `service`: SIGTERM to each process, the gateway's own too, as systemd sends it.
 * - `hangup`: SIGHUP to the group, as when the terminal closes.
 */
export const stopWays = ['twice', 'group', 'service', 'hangup'] as const

export interface StopMoment {
  readonly command: (typeof stopCommands)[number]
  readonly way: (typeof stopWays)[number]
  /** From the start on; where it is null, as soon as a second process of ours is there. */
  readonly afterMs: number | null
  readonly againAfterMs: number
}

const argsOf: Readonly<Record<StopMoment['command'], readonly string[]>> = {
  up: ['--port=0', '--host=127.0.0.1', '--dashboard-port=0', '--upstream=http://127.0.0.1:9/v1'],
  demo: ['--port=0', '--host=127.0.0.1', '--dashboard-port=0'],
  gateway: ['--port=0', '--host=127.0.0.1', '--upstream=http://127.0.0.1:9/v1'],
  dashboard: ['--port=0', '--gateway-port=0'],
}
const endLimitMs = 20_000
const lookEveryMs = 20

/** Stops a command at a moment; answers what is wrong then, in words: a process that stays, a stack that is printed. */
export async function stopAtMoment({
  command,
  way,
  afterMs,
  againAfterMs,
}: StopMoment): Promise<readonly string[]> {
  await using dir = await makeTempDir()
  const child = spawn(process.execPath, [bin, command, ...argsOf[command]], {
    cwd: dir.path,
    // The leader of a group of its own, as what a shell starts.
    detached: true,
    env: { ...process.env, TMPDIR: dir.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  const group = -child.pid!
  const signals = { twice: 'SIGINT', group: 'SIGTERM', service: 'SIGTERM', hangup: 'SIGHUP' } as const
  const send = (): void => {
    for (const pid of way === 'service' ? processesIn(dir.path) : [group]) {
      try {
        process.kill(pid, signals[way])
      } catch {
        // It has ended already.
      }
    }
  }
  if (afterMs !== null) await sleep(afterMs)
  else await within(() => processesIn(dir.path).some((pid) => pid !== child.pid && leads(pid)))
  send()
  if (way === 'twice') {
    await sleep(againAfterMs)
    send()
  }
  const problems: string[] = []
  if ((await Promise.race([ended, sleep(endLimitMs, 'late', { ref: false })])) === 'late')
    problems.push('it did not end')
  if (!(await within(() => processesIn(dir.path).length === 0))) {
    const left = processesIn(dir.path)
    problems.push(`${left.length} processes stay`)
    for (const pid of left) process.kill(pid, 'SIGKILL')
  }
  if (/^ +at .*[:(]/m.test(printed)) problems.push(`it printed a stack: ${printed}`)
  return problems
}

async function within(holds: () => boolean): Promise<boolean> {
  const deadline = performance.now() + endLimitMs
  while (!holds()) {
    if (performance.now() > deadline) return false
    await sleep(lookEveryMs)
  }
  return true
}

/** Those that work in the folder: all that the command has started, and nobody else. */
function processesIn(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && linkOf(`/proc/${name}/cwd`) === folder)
    .map(Number)
}

/** Whether it is the leader of a session of its own, as a gateway is that a dashboard has started. */
function leads(pid: number): boolean {
  const fields = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
  return Number(fields[3]) === pid
}

function linkOf(path: string): string {
  return orNothing(() => readlinkSync(path))
}

function textOf(path: string): string {
  return orNothing(() => readFileSync(path, 'utf8'))
}

/** A process may end while it is looked at. */
function orNothing(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
