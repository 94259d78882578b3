import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleHealth } from '../../test/support/sample-health.ts'
import type { HealthReport } from '../api/health-report.ts'
import type { ControlStatus } from '../control/control-messages.ts'
import type { ProcessRecord } from '../control/process-record.ts'
import { type Plan, type GatewayTraces, describeProcess, traceGateway } from './describe-process.ts'
import type { FolderTraces, GatewayFinder } from './gateway-finder.ts'

const health: HealthReport = { ...sampleHealth, upstream: 'http://running/v1', instance: 'this' }
const control: ControlStatus = {
  identity: { pid: 77, startTicks: 1, bootId: 'b' },
  instance: 'this',
  version: '1',
  host: '127.0.0.1',
  port: 9191,
  started_at: '2026-11-21T06:00:00.000Z',
  draining: false,
  drain_timeout_ms: 1,
  options: { pid_file: 'its/pid' },
  health,
  predecessors: [],
  supervised: true,
  crash: null,
}
const record: ProcessRecord = {
  pid: 66,
  startTicks: 1,
  bootId: 'b',
  instance: 'recorded',
  host: '::1',
  port: 9292,
  started_at: '2026-11-21T05:00:00.000Z',
  supervised: true,
  ends: undefined,
}
const plan: Plan = {
  host: '0.0.0.0',
  port: 9090,
  upstream: 'http://planned/v1',
  pidFile: 'planned/pid',
  logFile: 'planned/log',
  simulated: false,
  problem: null,
  crash: null,
}
const nobody: GatewayTraces = {
  folder: { control: 'notRunning', problem: null, record: null, recordedRuns: false },
  port: null,
  isPortTaken: false,
  startingPid: null,
}

function tracesOf(
  difference: Partial<GatewayTraces['folder']>,
  rest: Partial<GatewayTraces> = {},
): GatewayTraces {
  return { ...nobody, ...rest, folder: { ...nobody.folder, ...difference } }
}

const answer = { status: 200, instance: 'this', report: null }
const another = { status: 200, instance: 'other', report: null }
const silent = { status: null, instance: null, report: null }
const cases = [
  ['nobody', nobody, ['stopped', false, null, 9090, false], null],
  ['a healthy one', tracesOf({ control }, { port: answer }), ['running', true, 77, 9191, true], null],
  [
    'one whose port does not answer',
    tracesOf({ control }, { port: silent }),
    ['running', true, 77, 9191, false],
    /127\.0\.0\.1:9191 does not answer as this gateway/,
  ],
  [
    'one whose port another answers on',
    tracesOf({ control }, { port: another }),
    ['running', true, 77, 9191, false],
    /does not answer as this gateway/,
  ],
  [
    'one that drains',
    tracesOf({ control: { ...control, draining: true } }, { port: silent }),
    ['draining', true, 77, 9191, false],
    null,
  ],
  ['one that starts', { ...nobody, startingPid: 88 }, ['starting', false, 88, 9090, false], null],
  [
    'one that starts and answers already',
    tracesOf({ control }, { port: answer, startingPid: 77 }),
    ['starting', false, 77, 9191, true],
    null,
  ],
  [
    'a silent one',
    tracesOf({ control: 'noReply' }),
    ['unresponsive', true, null, 9090, false],
    /does not answer/,
  ],
  [
    'a silent one that is known',
    tracesOf({ control: 'noReply', record, recordedRuns: true }),
    ['unresponsive', true, 66, 9292, false],
    /\(process 66\) does not answer/,
  ],
  [
    'a silent one, beside the record of a dead one',
    tracesOf({ control: 'noReply', record }),
    ['unresponsive', true, null, 9090, false],
    /^The gateway does not answer/,
  ],
  [
    'one without its socket',
    tracesOf({ record, recordedRuns: true }),
    ['unresponsive', true, 66, 9292, false],
    /\(process 66\) runs, but its control socket is gone/,
  ],
  [
    'a socket that may not be opened',
    tracesOf({ control: 'noReply', problem: 'EACCES' }),
    ['unresponsive', true, null, 9090, false],
    /state of the gateway is unknown: EACCES/,
  ],
  [
    'the record of a dead one',
    tracesOf({ record }),
    ['stopped', false, null, 9090, false],
    /last gateway \(process 66\) ended unexpectedly/,
  ],
  [
    'somebody else on the port',
    { ...nobody, isPortTaken: true },
    ['foreign', false, null, 9090, false],
    /Something else listens on port 9090/,
  ],
] as const

for (const [what, sighting, expected, message] of cases) {
  test(`the status of ${what}`, () => {
    const status = describeProcess(sighting, plan)
    const { state, running, pid, port, health_ok: isHealthy } = status
    assert.deepEqual([state, running, pid, port, isHealthy], expected)
    if (message === null) assert.equal(status.message, null)
    else assert.match(status.message ?? '', message)
  })
}

test('one that comes up just while it is looked for is not taken for one that has ended', async () => {
  let startingPid: number | null = 77
  const founds: FolderTraces[] = [tracesOf({}).folder, tracesOf({ control: { ...control, port: 1 } }).folder]
  const finder = {
    find: async () => {
      const traces = founds.shift() ?? assert.fail('looked for too often')
      startingPid = null
      return traces
    },
  } as unknown as GatewayFinder
  const sighting = await traceGateway(finder, { ...plan, port: 0 }, () => startingPid, 1000)
  assert.equal(describeProcess(sighting, plan).state, 'running')
})

test('a running gateway tells of itself, and a stopped one of the next', () => {
  const running = describeProcess(tracesOf({ control }, { port: answer }), plan)
  assert.deepEqual(
    [running.upstream, running.pid_file, running.instance],
    ['http://running/v1', 'its/pid', 'this'],
  )
  assert.deepEqual([running.started_at, running.uptime_s], [control.started_at, 5])
  const stopped = describeProcess(nobody, plan)
  assert.deepEqual(
    [stopped.upstream, stopped.pid_file, stopped.host],
    ['http://planned/v1', 'planned/pid', '0.0.0.0'],
  )
  assert.deepEqual(
    [stopped.instance, stopped.started_at, stopped.uptime_s, stopped.health],
    [null, null, null, null],
  )
})

test("whatever its port answers, the report is the control socket's", () => {
  assert.deepEqual(describeProcess(tracesOf({ control }, { port: another }), plan).health, health)
})

test('a problem is told while nothing runs', () => {
  const troubled = { ...plan, problem: 'the settings are broken' }
  assert.equal(describeProcess(tracesOf({ record }), troubled).message, 'the settings are broken')
  assert.equal(describeProcess(tracesOf({ control }, { port: answer }), troubled).message, null)
})

test('gateways that still finish calls are told of, in a sentence too', () => {
  const withPredecessors = (...calls: readonly number[]): ReturnType<typeof describeProcess> => {
    const predecessors = calls.map((count, at) => ({
      pid: 50 + at,
      instance: `predecessor${at}`,
      calls: count,
    }))
    return describeProcess(tracesOf({ control: { ...control, predecessors } }, { port: answer }), plan)
  }
  assert.equal(withPredecessors().message, null)
  assert.deepEqual(withPredecessors(1).predecessors, [{ pid: 50, calls: 1 }])
  assert.equal(withPredecessors(1).message, 'The previous process (50) is finishing 1 call.')
  assert.equal(withPredecessors(2, 1).message, 'Previous processes (50, 51) are finishing 3 calls.')
})
