import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { SteadyLoad, steadyReply } from '../faults/steady-load.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { untilHealth, untilPastIsRead } from '../support/gateway-state.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const hourMs = 3_600_000
const tokensPerCall = 15
const callsPerStep = 10
/** Far below the step that a duration could be wrong by, far above what any call takes on any machine. */
const longestCallMs = 600_000

test('the clock steps an hour forward and back under load: no call fails, every duration is true, the budget holds', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream({ reply: steadyReply })
  const setStep = (ms: number): void => {
    writeFileSync(dir.file('step.new'), String(ms))
    renameSync(dir.file('step.new'), dir.file('step'))
  }
  setStep(0)
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    directory: dir.path,
    nodeArgs: ['--import', new URL('../faults/stepped-clock.ts', import.meta.url).href],
    env: { TOKENWEIR_CLOCK_STEP: dir.file('step') },
  })
  await using cleanup = new AsyncDisposableStack()
  const load = new SteadyLoad(gateway.origin, 50)
  cleanup.defer(() => load.stop())
  const trueStartMs = Date.now()
  for (const stepMs of [0, hourMs, -hourMs, 2000, -500, 0]) {
    setStep(stepMs)
    const fromMs = performance.now()
    const isSeen = (): boolean => load.between(fromMs, Infinity).length >= callsPerStep
    await untilHealth(gateway, 'calls at this time', isSeen)
  }
  await load.stop()
  assert.deepEqual(
    load.calls.flatMap((call) => call.fault ?? []),
    [],
  )
  const rows = await recordedCalls(gateway, load.calls.length)
  const steps = new Set<number>()
  for (const row of rows) {
    assert.equal(row.outcome, 'ok')
    steps.add(Math.round((Date.parse(row.started_at) - trueStartMs) / hourMs))
    for (const [name, value] of Object.entries(row)) {
      if (!name.endsWith('_ms') || value === null) continue
      assert.ok(Number(value) >= 0 && Number(value) < longestCallMs, `${name} is ${value}`)
    }
  }
  assert.deepEqual(
    [...steps].sort((a, b) => a - b),
    [-1, 0, 1],
  )
  assert.equal(new Set(rows.map((row) => row.id)).size, rows.length)
  await untilPastIsRead(gateway)
  const health = await gateway.health()
  assert.equal(health['status'], 'ok')
  assert.equal(asRecord(health['token_budget'])['total_used'], rows.length * tokensPerCall)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
})
