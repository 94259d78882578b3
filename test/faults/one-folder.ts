/**
 * Several gateways on one data folder under load, one of which is killed now and then and started anew:
 * `node test/faults/one-folder.ts [--gateways 8] [--calls-per-s 200] [--seconds 600] [--kill-every-s 60] [--loss-ms 250] [--namespaces]`, with
 * `--namespaces` every other one in a PID namespace of its own. Ends with 1 where a call has no row or two, or was written
 * off although it had ended; a call that began or ended less than `loss-ms` before its gateway was killed may have no row.
 */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { canMakeNamespaces, newPidNamespace } from '../support/command-process.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '8' },
    'calls-per-s': { type: 'string', default: '200' },
    seconds: { type: 'string', default: '600' },
    'kill-every-s': { type: 'string', default: '60' },
    'loss-ms': { type: 'string', default: '250' },
    namespaces: { type: 'boolean', default: false },
  },
})
const count = Number(values.gateways)
const callsPerS = Number(values['calls-per-s'])
const killEveryMs = Number(values['kill-every-s']) * 1000
/** Calls of a gateway that is killed may be written off if they ended no longer than this before. */
const lossMs = Number(values['loss-ms'])
const tickMs = 10
const answer = JSON.stringify({ usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
if (values.namespaces && !canMakeNamespaces()) throw new Error('no PID namespaces can be made here')

const reached = new Set<string>()
const upstream = createServer((req, res) => {
  reached.add(new URL(req.url ?? '', 'http://upstream').searchParams.get('call') ?? '')
  req.resume().once('end', () => setTimeout(() => res.end(answer), 5 + (reached.size % 20) * 5))
}).listen(0, '127.0.0.1', 4096)
await once(upstream, 'listening')
const { port } = upstream.address() as AddressInfo
await using dir = await makeTempDir()
/** Ends them all, also if this program fails. */
await using started = new AsyncDisposableStack()
const start = async (index: number): Promise<GatewayProcess> =>
  started.use(
    await startGatewayProcess({
      upstream: `http://127.0.0.1:${port}/v1`,
      directory: dir.path,
      args: ['--max-concurrent', '256'],
      ...(values.namespaces && index % 2 === 1 ? { launcher: newPidNamespace } : {}),
    }),
  )
const gateways: (GatewayProcess | null)[] = []
for (let at = 0; at < count; at++) gateways.push(await start(at))

const agent = new Agent({ keepAlive: true })
/** When the client had the whole answer of a call, and at which gateway. */
const ended = new Map<string, { readonly atMs: number; readonly gateway: GatewayProcess }>()
/** When a call was sent, and to which gateway. */
const begunAt = new Map<string, { readonly atMs: number; readonly gateway: GatewayProcess }>()
const killedAtMs = new Map<GatewayProcess, number>()
const running = new Set<Promise<void>>()
let failedElsewhere = 0
/** Answered by the gateway itself: on a busy machine the upstream may be too slow to be reached. */
let notServed = 0

async function call(id: string, gateway: GatewayProcess): Promise<void> {
  begunAt.set(id, { atMs: performance.now(), gateway })
  try {
    const req = request({
      port: gateway.port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/v1/chat/completions?call=${id}`,
      agent,
      headers: { 'Content-Type': 'application/json', 'x-tokenweir-session': id },
    }).end('{"model":"m","messages":[]}')
    const [response] = (await once(req, 'response')) as [IncomingMessage]
    await once(response.resume(), 'end')
    ended.set(id, { atMs: performance.now(), gateway })
    if (response.statusCode !== 200) notServed += 1
  } catch {
    if (!killedAtMs.has(gateway)) failedElsewhere += 1
  }
}

const random = seededRandom(37)
let begun = 0
const startedMs = performance.now()
const untilMs = startedMs + Number(values.seconds) * 1000
let nextKillMs = startedMs + killEveryMs
let restarting: Promise<void> | null = null
while (performance.now() < untilMs) {
  const due = ((performance.now() - startedMs) * callsPerS) / 1000
  for (; begun < due; begun++) {
    const gateway = gateways[begun % count]
    if (gateway === null || gateway === undefined) continue
    const one = call(`c${begun}`, gateway)
    running.add(one)
    void one.finally(() => running.delete(one))
  }
  if (performance.now() >= nextKillMs && restarting === null) {
    nextKillMs += killEveryMs
    const at = Math.floor(random() * count)
    restarting = killAndStart(at).finally(() => {
      restarting = null
    })
  }
  await sleep(tickMs)
}
await restarting
await Promise.all(running)

async function killAndStart(at: number): Promise<void> {
  const victim = gateways[at]
  if (victim === null || victim === undefined) return
  gateways[at] = null
  killedAtMs.set(victim, performance.now())
  await victim.kill9()
  gateways[at] = await start(at)
}

let dropped = 0
const warned = new Set<string>()
for (const gateway of gateways) {
  if (gateway === null) continue
  const { telemetry, warnings } = await settled(gateway)
  dropped += Number(asRecord(telemetry)['dropped'])
  for (const warning of warnings as { code: string }[]) warned.add(warning.code)
  await gateway.stop()
}
// What the last one that was killed has left is found by the next start.
const last = await start(0)
await settled(last)
const rows = readAll(last.databaseFile)
await last.stop()
agent.destroy()
upstream.close()

/** Its health once nothing waits to be recorded. */
async function settled(gateway: GatewayProcess): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const health = await gateway.health()
    const usage = asRecord(health['telemetry'])
    if (usage['pending'] === 0) return health
    await sleep(20)
  }
}

function readAll(file: string): ReadonlyMap<string, string[]> {
  const outcomes = new Map<string, string[]>()
  const database = new DatabaseSync(file, { readOnly: true })
  for (const row of database.prepare('SELECT session, outcome FROM calls_readable').iterate()) {
    const [session, outcome] = [String(row['session']), String(row['outcome'])]
    const known = outcomes.get(session)
    if (known === undefined) outcomes.set(session, [outcome])
    else known.push(outcome)
  }
  database.close()
  return outcomes
}

const missing = [...reached].filter((id) => {
  if (rows.has(id)) return false
  const { atMs, gateway } = ended.get(id) ?? begunAt.get(id)!
  return (killedAtMs.get(gateway) ?? Number.POSITIVE_INFINITY) - atMs > lossMs
})
const twice = [...rows].filter(([, outcomes]) => outcomes.length > 1)
const writtenOff = [...ended].filter(([id]) => rows.get(id)?.[0] === 'interrupted')
const byTheLiving = writtenOff.filter(([, { gateway }]) => !killedAtMs.has(gateway)).length
const lostMs = Math.max(
  0,
  ...writtenOff.map(([, { atMs, gateway }]) => (killedAtMs.get(gateway) ?? atMs) - atMs),
)
const interrupted = [...rows].filter(([, [outcome]]) => outcome === 'interrupted').length
console.log(
  `measured: ${count} gateways${values.namespaces ? ', half of them in PID namespaces of their own' : ''}, ` +
    `${values.seconds} s at ${callsPerS} calls/s, ${killedAtMs.size} killed: ${reached.size} calls at the upstream, ` +
    `${rows.size} rows, ${missing.length} missing, ${twice.length} twice; ${interrupted} interrupted, of which ${byTheLiving} ` +
    `had ended at gateways that lived on, and ${writtenOff.length - byTheLiving} up to ${lostMs.toFixed(0)} ms before their gateway was killed; ` +
    `${dropped} dropped, ${failedElsewhere} failed at gateways that lived on, ${notServed} answered by the gateway itself; warnings: ${[...warned].join(' ') || 'none'}`,
)
const isWrong = missing.length + twice.length + byTheLiving + dropped + failedElsewhere > 0
if (isWrong || lostMs > lossMs || warned.has('id_conflict')) process.exitCode = 1
