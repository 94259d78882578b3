/**
 * Restarts in a row of a gateway that is at work:
 * `node test/faults/restarts-under-load.ts [--restarts 20] [--failing 5] [--calls-per-s 500] [--streams 20] [--max-concurrent 28]`.
 * Every other restart changes `max_concurrent` and the upstream. Ends with 1 where a promise was broken.
 */
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCalls } from '../support/recorded-calls.ts'
import { InFlight, startCountedUpstream } from '../supervisor/counted-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { SteadyLoad } from '../supervisor/steady-load.ts'
import { freePort } from '../support/free-port.ts'
import { hookedCommand, makeWorkplace } from '../supervisor/workplace.ts'

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '20' },
    failing: { type: 'string', default: '5' },
    'calls-per-s': { type: 'string', default: '500' },
    streams: { type: 'string', default: '20' },
    'max-concurrent': { type: 'string', default: '28' },
    'pause-ms': { type: 'string', default: '500' },
  },
})
const most = Number(values['max-concurrent'])
const fewer = most - 2

const inFlight = new InFlight()
await using first = await startCountedUpstream(inFlight)
await using second = await startCountedUpstream(inFlight)
await using place = await makeWorkplace()
const port = await freePort()
const args = [`--port=${port}`, '--slot-cooldown-ms=0']
const supervisor = place.supervisor({ args })
await supervisor.start({ max_concurrent: most, upstream: first.baseUrl })
const load = new SteadyLoad({
  port,
  callsPerS: Number(values['calls-per-s']),
  callMs: 8,
  streams: Number(values.streams),
  streamMs: 4000,
})
await sleep(1000)
const changes = [
  {},
  { max_concurrent: fewer, upstream: second.baseUrl },
  {},
  { max_concurrent: most, upstream: first.baseUrl },
] as const
const tookMs: number[] = []
let finishing = 0
const warnings: string[] = []
for (let at = 1; at <= Number(values.restarts); at++) {
  const startedAt = performance.now()
  const status = await supervisor.restart(changes[at % changes.length])
  tookMs.push(performance.now() - startedAt)
  for (const { message } of status.health?.warnings ?? []) warnings.push(message)
  finishing = Math.max(finishing, (await supervisor.status()).predecessors.length)
  console.log(
    `restart ${at}: ${tookMs.at(-1)?.toFixed(0)} ms, process ${status.pid}, ${status.message ?? 'nobody finishes'}`,
  )
  await sleep(Number(values['pause-ms']))
}
const broken = place.supervisor({
  args,
  command: hookedCommand(`if (message.asks === 'listener') process.exit(9)`),
})
let refused = 0
for (let at = 1; at <= Number(values.failing); at++) {
  const { pid } = await supervisor.status()
  await broken.restart().catch((error: unknown) => {
    refused += 1
    console.log(`failing restart ${at}: ${String(error)}`)
  })
  if ((await supervisor.status()).pid !== pid) throw new Error('the working gateway was not left')
  await sleep(Number(values['pause-ms']))
}
const figures = await load.stop()
const made = figures.calls + figures.streams
await eventually('predecessors to end', () => place.gateways().length === 1)
const { total_used: used = 0, estimated = 0 } = (await supervisor.status()).health?.token_budget ?? {}
const budget = used - estimated
await supervisor.stop()
const rows = readCalls(place.file('telemetry.db'))
const lost = made - rows.length
const tokens = rows.reduce((sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0), 0)
for (const trouble of figures.troubles) console.log(`  ${trouble}`)
console.log(
  `measured: ${values.restarts} restarts and ${refused} that failed, ${figures.calls} calls and ${figures.streams} streams: ${figures.failed} failed, ` +
    `${figures.cut} cut; at most ${inFlight.most} of ${most} at the upstream; ${lost} records lost; ` +
    `budget ${budget}, rows ${tokens} tokens; slowest call ${figures.slowestMs.toFixed(0)} ms; ` +
    `restarts took up to ${Math.max(...tookMs).toFixed(0)} ms; up to ${finishing} predecessors at once`,
)
for (const warning of warnings) console.log(`  warning: ${warning}`)
const kept =
  warnings.length === 0 && figures.failed === 0 && figures.cut === 0 && inFlight.most <= most && lost === 0
if (!kept || budget !== tokens) process.exitCode = 1
