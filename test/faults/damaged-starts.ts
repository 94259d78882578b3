/**
 * A gateway is killed under load, its files are damaged in every shape, and it is started again on each:
 * `node test/faults/damaged-starts.ts [--limit-ms 1000]`. Ends with 1 where a start did not serve within the limit,
 * or did not say what it found.
 */
import { cpSync, mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type DamageShape, copyCrashed, damageShapes } from './damage-shapes.ts'
import { SteadyLoad, steadyReply } from './steady-load.ts'

const { values } = parseArgs({ options: { 'limit-ms': { type: 'string', default: '1000' } } })
const limitMs = Number(values['limit-ms'])
const loadMs = 3000

await using dir = await makeTempDir()
await using upstream = await startSimulatedUpstream({ reply: steadyReply })
await makeCrashed('own')
await makeCrashed('foreign')
let slowestMs = 0
for (const [index, shape] of damageShapes.entries()) {
  const folder = dir.file(`shape-${index}`)
  mkdirSync(folder)
  copyCrashed(dir.file('own/telemetry.db'), `${folder}/telemetry.db`)
  shape.damage(`${folder}/telemetry.db`, dir.file('foreign/telemetry.db'))
  const startedMs = performance.now()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, directory: folder })
  const listensMs = performance.now()
  const answer = await fetch(`${gateway.baseUrl}/chat/completions?json`, {
    method: 'POST',
    body: '{"model":"m"}',
  })
  await answer.text()
  const firstCallMs = performance.now() - listensMs
  slowestMs = Math.max(slowestMs, firstCallMs)
  const message = await warningOf(gateway, shape)
  const verdict = answer.ok && firstCallMs <= limitMs ? '' : ' BROKEN'
  if (verdict !== '') process.exitCode = 1
  const startMs = (listensMs - startedMs).toFixed(0)
  console.log(
    `${shape.name}: listens after ${startMs} ms, first call in ${firstCallMs.toFixed(0)} ms${verdict}`,
  )
  if (message !== null) console.log(`  ${message}`)
}
const count = damageShapes.length
console.log(
  `measured: ${count} shapes, each served and told of; first call within ${slowestMs.toFixed(0)} ms of listening`,
)

async function makeCrashed(name: string): Promise<void> {
  mkdirSync(dir.file(`${name}-live`))
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    directory: dir.file(`${name}-live`),
  })
  const load = new SteadyLoad(gateway.origin, 400)
  await delay(loadMs)
  await load.stop()
  await untilHealth(gateway, 'all is written', (health) => asRecord(health['telemetry'])['pending'] === 0)
  // While it runs most lies in the log: a copy has the file as its first opening made it, unless it is put in.
  await gateway.stop()
  await using again = await startGatewayProcess({
    upstream: upstream.baseUrl,
    directory: dir.file(`${name}-live`),
  })
  const more = new SteadyLoad(again.origin, 200)
  await delay(1000)
  await more.stop()
  await untilHealth(again, 'all is written', (health) => asRecord(health['telemetry'])['pending'] === 0)
  await again.kill9()
  cpSync(dir.file(`${name}-live`), dir.file(name), { recursive: true })
}

/** What the gateway says of it; `null` where nothing is to be said. */
async function warningOf(gateway: GatewayProcess, { code, name }: DamageShape): Promise<string | null> {
  if (code === null) return null
  const isTold = (each: unknown): boolean => asRecord(each)['code'] === code
  const warningsIn = (health: Readonly<Record<string, unknown>>): readonly unknown[] =>
    Array.isArray(health['warnings']) ? health['warnings'] : []
  const told = await untilHealth(
    gateway,
    `${code} is told of: ${name}`,
    (health) => health['status'] === 'degraded' && warningsIn(health).some(isTold),
  )
  return String(asRecord(warningsIn(told).find(isTold))['message'])
}
