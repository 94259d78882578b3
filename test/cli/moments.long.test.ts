import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { timesCount } from '../support/assert-within.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { cannotActAsOthers } from '../support/curl.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const bin = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

const stopCommands = ['up', 'demo', 'gateway', 'dashboard'] as const
/**
 * - `twice`: Ctrl-C, and once more soon.
 * - `group`: SIGTERM to all processes of the terminal's group, as `timeout` sends it.
 * - `service`: SIGTERM to each process, the gateway's own too, as systemd sends it.
 * - `hangup`: SIGHUP to the group, as when the terminal closes.
 */
const stopWays = ['twice', 'group', 'service', 'hangup'] as const

interface StopMoment {
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

test('what Node compiled is kept in the user’s own folder for the next start', async () => {
  await using dir = await makeTempDir()
  assert.deepEqual(await runIn(dir.path), { code: 0, signal: null })
  const [version = ''] = readdirSync(dir.file('tokenweir'))
  assert.ok(readdirSync(dir.file(`tokenweir/${version}`)).length > 20)
})

test('a folder that cannot be made stops nothing', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('file'), '')
  assert.deepEqual(await runIn(dir.file('file')), { code: 0, signal: null })
})

test(
  'a user whom the system does not know, and so without a home, starts all the same',
  { skip: cannotActAsOthers },
  async () => {
    const env = { NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: undefined }
    const launcher = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
    await using command = startCommandProcess({ args: ['--version'], directory: '/', env, launcher })
    assert.deepEqual(await command.exited, { code: 0, signal: null })
  },
)

async function runIn(cacheHome: string): Promise<unknown> {
  const env = { NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: cacheHome }
  await using command = startCommandProcess({ args: ['--version'], directory: '/', env })
  return await command.exited
}

const moments: readonly StopMoment[] = [
  // The gateway has just been started, and is not ready.
  { command: 'up', way: 'twice', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'twice', afterMs: null, againAfterMs: 60 },
  { command: 'up', way: 'group', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'service', afterMs: null, againAfterMs: 0 },
  { command: 'gateway', way: 'hangup', afterMs: 700, againAfterMs: 0 },
  { command: 'dashboard', way: 'group', afterMs: 900, againAfterMs: 0 },
]

for (const moment of moments) {
  const { command, way, afterMs } = moment
  const when = afterMs === null ? 'while its gateway starts' : `after ${afterMs} ms`
  test(`${command}, stopped by ${way} ${when}, leaves nothing behind`, async () => {
    assert.deepEqual(await stopAtMoment(moment), [])
  })
}

/** `npm run test:faults` measures it at its full length; the tests above hold it. */
if (timesCount) {
  test('100 stops at random moments leave nothing behind', async () => {
    const random = seededRandom(43)
    for (let index = 0; index < 100; index++) {
      const command = stopCommands[index % stopCommands.length]!
      const way = stopWays[Math.floor(random() * stopWays.length)]!
      // A command is up long before 2.5 s, on an idle machine.
      const moment = { command, way, afterMs: random() * 2500, againAfterMs: random() * 400 }
      assert.deepEqual(await stopAtMoment(moment), [], JSON.stringify(moment))
    }
  })
}

/** Stops a command at a moment; answers what is wrong then, in words: a process that stays, a stack that is printed. */
async function stopAtMoment({ command, way, afterMs, againAfterMs }: StopMoment): Promise<readonly string[]> {
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
