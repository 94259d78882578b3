/** A gateway that ends without being told to is started again; one that was told to end stays down. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CrashStatus, ProcessStatus } from '../../src/api/process-status.ts'
import type { SupervisedGateway } from '../../src/supervisor/supervised-gateway.ts'
import { requestBytes } from '../support/exchange.ts'
import { eventually } from '../support/eventually.ts'
import { fastClock } from '../support/fast-clock.ts'
import { freePort } from '../support/free-port.ts'
import { openRawClient } from '../support/raw-client.ts'
import { stall } from '../support/reply-step.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import {
  type SupervisorOptions,
  type Workplace,
  commandThatFailsWhile,
  commandThatWaitsFor,
  filesIn,
  gatewayCommand,
  hookedCommand,
  makeWorkplace,
} from './workplace.ts'

const upstream = '--upstream=http://127.0.0.1:9/v1'
const anyPort = ['--port=0', upstream]

/** A supervisor that keeps its gateway, and what it told people. */
function keeping(
  place: Workplace,
  options: SupervisorOptions = {},
): { supervisor: SupervisedGateway; told: string[] } {
  const supervisor = place.supervisor({ args: anyPort, ...options })
  const told: string[] = []
  supervisor.restartAfterCrash((line) => told.push(line))
  return { supervisor, told }
}

/** Resolves when the gateway of this process number is gone, and another one is healthy. */
async function another(supervisor: SupervisedGateway, pid: number | null): Promise<ProcessStatus> {
  let status = await supervisor.status()
  await eventually('another gateway', async () => {
    status = await supervisor.status()
    return status.pid !== pid && status.health_ok
  })
  return status
}

/** The supervisor has looked at the gateway that is there, and knows with what to start it again. */
async function looked(supervisor: SupervisedGateway): Promise<void> {
  const { pid } = await supervisor.status()
  await eventually('a look', () => supervisor.knownPid === pid)
}

function ends(pid: number | null, signal: NodeJS.Signals): void {
  process.kill(pid ?? assert.fail(), signal)
}

async function crashOf(supervisor: SupervisedGateway, state: CrashStatus['state']): Promise<CrashStatus> {
  let crash: CrashStatus | null = null
  await eventually(`a crash that is ${state}`, async () => {
    crash = (await supervisor.status()).crash
    return crash?.state === state
  })
  return crash ?? assert.fail()
}

test('a gateway that is killed is started again, with what it ran with, and that is told', async () => {
  await using place = await makeWorkplace()
  const { supervisor, told } = keeping(place)
  const { pid, port } = await supervisor.start({ max_concurrent: 7 })
  await supervisor.configure({ max_concurrent: 9 })
  await looked(supervisor)
  ends(pid, 'SIGKILL')
  const { crash, ...status } = await another(supervisor, pid)
  assert.equal(status.port, port)
  assert.equal(status.health?.rate_limiter.max_concurrent, 9)
  const { at, ...rest } = crash ?? assert.fail()
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000)
  assert.deepEqual(rest, {
    pid,
    exit_code: null,
    signal: 'SIGKILL',
    in_a_row: 1,
    state: 'started_again',
    failed_starts: 0,
    next_start_at: null,
    text: `The gateway (process ${pid}) crashed (SIGKILL). The dashboard has started it again.`,
  })
  await eventually('the second line', () => told.length === 2)
  assert.deepEqual(told, [
    `The gateway (process ${pid}) crashed (SIGKILL). It is started again.`,
    `The gateway was started again (process ${status.pid}).`,
  ])
  const log = readFileSync(place.file('proxy.log'), 'utf8')
  for (const line of told)
    assert.match(log, new RegExp(`^\\S+Z tokenweir dashboard: ${line.replaceAll(/[().]/g, '\\$&')}$`, 'm'))

  // A restart by a person ends the matter.
  assert.equal((await supervisor.restart()).crash, null)
})

test('crashes in a row are counted, and each start waits longer', async () => {
  await using place = await makeWorkplace()
  const { supervisor, told } = keeping(place)
  let { pid } = await supervisor.start()
  for (const inARow of [1, 2, 3]) {
    await looked(supervisor)
    ends(pid, 'SIGKILL')
    const status = await another(supervisor, pid)
    assert.equal(status.crash?.in_a_row, inARow)
    ;({ pid } = status)
  }
  const crashes = told.filter((line) => line.includes('SIGKILL'))
  assert.deepEqual(
    crashes.map((line) => /(?:This is crash \d in a row: .+)?It is started again.*/.exec(line)?.[0]),
    [
      'It is started again.',
      'It is started again in 1 s.',
      'This is crash 3 in a row: its log may say why. It is started again in 2 s.',
    ],
  )
})

test('a gateway that does not come up again is not tried for ever', async () => {
  await using place = await makeWorkplace()
  const stuck = place.file('stuck')
  const hurry = 100
  const { supervisor, told } = keeping(place, {
    command: commandThatFailsWhile(stuck),
    clock: fastClock(hurry),
    limits: { startMs: 60_000 * hurry },
  })
  const { pid } = await supervisor.start()
  await looked(supervisor)
  writeFileSync(stuck, '')
  ends(pid, 'SIGKILL')
  const crash = await crashOf(supervisor, 'given_up')
  assert.deepEqual([crash.pid, crash.failed_starts, crash.next_start_at], [pid, 10, null])
  const failed = told.filter((line) => line.includes('did not come up again'))
  assert.equal(failed.length, 10)
  assert.match(failed[0] ?? '', /ended with exit code 9\. The next start is in 1 s\.$/)
  assert.match(failed[8] ?? '', /The next start is in 30 s\.$/)
  assert.match(failed[9] ?? '', /After 10 starts it is not tried again/)
  assert.deepEqual(place.gateways(), [])
})

for (const [how, stop] of [
  ['the page', (supervisor) => supervisor.stop()],
  ['SIGTERM', async (_, pid) => ends(pid, 'SIGTERM')],
  ['Ctrl-C', async (_, pid) => ends(pid, 'SIGINT')],
] as readonly [string, (supervisor: SupervisedGateway, pid: number) => Promise<unknown>][]) {
  test(`a gateway that was stopped by ${how} stays down`, async () => {
    await using place = await makeWorkplace()
    const { supervisor, told } = keeping(place)
    const other = keeping(place)
    const { pid } = await supervisor.start()
    await Promise.all([looked(supervisor), looked(other.supervisor)])
    await stop(supervisor, pid ?? assert.fail())
    // Both know by a look that it was told to end.
    await eventually('the looks', () => supervisor.knownPid === null && other.supervisor.knownPid === null)
    assert.deepEqual([told, other.told, place.gateways()], [[], [], []])
    const { state, message, crash } = await other.supervisor.status()
    assert.deepEqual([state, message, crash], ['stopped', null, null])
  })
}

test('a gateway that is killed while it finishes calls, or ends at a second signal, was told to end', async () => {
  await using place = await makeWorkplace()
  await using slow = await startSimulatedUpstream({ reply: () => ({ steps: [stall()] }) })
  const { supervisor, told } = keeping(place, { args: ['--port=0', `--upstream=${slow.baseUrl}`] })
  for (const second of ['SIGKILL', 'SIGTERM'] as const) {
    const { pid, port } = await supervisor.start()
    await using client = await openRawClient(port)
    await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m"}' }))
    await eventually('a call', async () => (await supervisor.status()).health?.rate_limiter.active === 1)
    await looked(supervisor)
    ends(pid, 'SIGTERM')
    await eventually('the drain', async () => (await supervisor.status()).state === 'draining')
    ends(pid, second)
    await eventually('a look', () => supervisor.knownPid === null)
    assert.deepEqual([told, place.gateways()], [[], []])
    // Alerts take a stopped gateway with a message for one that is down.
    const { state, message } = await supervisor.status()
    assert.deepEqual([state, message], ['stopped', null])
  }
})

test('two dashboards start one gateway, and both say so', async () => {
  await using place = await makeWorkplace()
  const args = [`--port=${await freePort()}`, upstream]
  const [one, other] = [keeping(place, { args }), keeping(place, { args })]
  const { pid } = await one.supervisor.start()
  await Promise.all([looked(one.supervisor), looked(other.supervisor)])
  ends(pid, 'SIGKILL')
  const next = await another(one.supervisor, pid)
  for (const { supervisor, told } of [one, other]) {
    await eventually('word of it', () =>
      told.some((line) => line.includes(`started again (process ${next.pid})`)),
    )
    assert.match(told.join(' '), new RegExp(`process ${pid}\\)`))
    const { pid: now, crash } = await supervisor.status()
    assert.deepEqual([now, crash?.pid, crash?.state], [next.pid, pid, 'started_again'])
  }
  await eventually('the slower one to end', () => place.gateways().length === 1)
  // Who found it running does not own it.
  assert.equal(await other.supervisor.stopOwn(), false)
  assert.deepEqual(place.gateways(), [next.pid])
  assert.equal(await one.supervisor.stopOwn(), true)
  assert.deepEqual(place.gateways(), [])
})

test('a gateway that was started by hand is left to who started it', async () => {
  await using place = await makeWorkplace()
  const [program = '', ...args] = gatewayCommand
  const own = [...args, ...filesIn(place.folder), '--host=127.0.0.1', ...anyPort]
  const byHand = spawn(program, own, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(byHand.stdout, 'data')
  const { supervisor, told } = keeping(place)
  await eventually('the gateway', async () => (await supervisor.status()).health_ok)
  await looked(supervisor)
  ends(byHand.pid ?? null, 'SIGKILL')
  const crash = await crashOf(supervisor, 'left')
  assert.deepEqual([crash.pid, crash.signal], [byHand.pid, null])
  assert.match(told.join(), /crashed\. It was started by hand, and is not started again/)
  assert.deepEqual(place.gateways(), [])
  const { state, crash: none } = await supervisor.start()
  assert.deepEqual([state, none], ['running', null])
})

test('a stop, or a start by a person, comes before a start that was planned', async () => {
  await using place = await makeWorkplace()
  const { supervisor } = keeping(place)
  let { pid } = await supervisor.start()
  for (const crashes of [1, 2, 3]) {
    await looked(supervisor)
    ends(pid, 'SIGKILL')
    if (crashes < 3) ({ pid } = await another(supervisor, pid))
  }
  await crashOf(supervisor, 'waiting')
  const { state, crash } = await supervisor.stop()
  assert.deepEqual([state, crash, place.gateways()], ['stopped', null, []])
  await sleep(100)
  const started = await supervisor.start()
  assert.deepEqual([started.already_running, started.crash], [false, null])
})

test('a stop that comes while the next gateway comes up stops that one', async () => {
  await using place = await makeWorkplace()
  const { supervisor, told } = keeping(place, { command: commandThatWaitsFor(place.file('go')) })
  writeFileSync(place.file('go'), '')
  const { pid } = await supervisor.start()
  await looked(supervisor)
  rmSync(place.file('go'))
  ends(pid, 'SIGKILL')
  await crashOf(supervisor, 'starting')
  const stopped = supervisor.stop()
  writeFileSync(place.file('go'), '')
  const { state, crash } = await stopped
  assert.deepEqual([state, crash, place.gateways()], ['stopped', null, []])
  assert.equal(told.filter((line) => line.includes('did not come up')).length, 0)
})

test('a gateway that stops because of a fault of its own is replaced while it finishes its calls', async () => {
  await using place = await makeWorkplace()
  await using slow = await startSimulatedUpstream({ reply: () => ({ steps: [stall()] }) })
  const fault = place.file('fault')
  const command = hookedCommand(`
    const { existsSync, rmSync } = process.getBuiltinModule('node:fs')
    const timer = setInterval(() => {
      if (!existsSync(${JSON.stringify(fault)})) return
      rmSync(${JSON.stringify(fault)})
      throw new Error('a fault')
    }, 10)
    timer.unref()`)
  const args = [`--port=${await freePort()}`, `--upstream=${slow.baseUrl}`]
  const { supervisor, told } = keeping(place, { args, command })
  const { pid, port } = await supervisor.start()
  await using client = await openRawClient(port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m"}' }))
  await eventually('a call', async () => (await supervisor.status()).health?.rate_limiter.active === 1)
  await looked(supervisor)
  writeFileSync(fault, '')
  const next = await another(supervisor, pid)
  assert.equal(next.port, port)
  assert.ok(place.gateways().includes(pid ?? 0), 'the old one finishes its call')
  assert.match(told.join(' '), new RegExp(`process ${pid}\\) crashed`))
})
