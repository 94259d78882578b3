/**
 * What sharing a limit through PostgreSQL costs: what a call that finds a kept slot takes more than one of a gateway by itself, how
 * often the database is asked at half load, and how many of four slots are in use at overload. `measured:` is the last line.
 */
import assert from 'node:assert/strict'
import { connect } from '../../src/share/postgres.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { startPostgres } from '../support/postgres.ts'
import { wait, write } from '../support/reply-step.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'a' } }] })
const reply = write(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
)
const request = JSON.stringify({ model: 'a', messages: [{ role: 'user', content: 'x' }] })

async function call({ baseUrl }: GatewayProcess): Promise<number> {
  const startedMs = performance.now()
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body: request })
  await response.text()
  assert.equal(response.status, 200)
  return performance.now() - startedMs
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

await using postgres = await startPostgres()
const url = await postgres.database('measured')

const connection = await connect(url, { applicationName: 'test', statementTimeoutMs: 5000 })
/** Messages so far: the count of calls of the outer function. */
async function asked(): Promise<number> {
  await connection.query('SELECT pg_stat_force_next_flush()')
  const [row] = await connection.query(
    "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = 'slots_sync'",
  )
  return Number(row?.[0])
}
await connection.query("ALTER DATABASE measured SET track_functions = 'all'")

const env = { TOKENWEIR_SHARE: url }
const start = (upstream: string, args: readonly string[], max: number): Promise<GatewayProcess> =>
  startGatewayProcess({
    upstream,
    args: ['--max-concurrent', String(max), '--slot-cooldown-ms', '0', ...args],
    env,
  })

const added: number[] = []
{
  await using upstream = await startSimulatedUpstream({ reply: () => [reply] })
  await using alone = await start(upstream.baseUrl, [], 4)
  await using shares = await start(upstream.baseUrl, ['--share'], 4)
  for (let at = 0; at < 300; at++) for (const gateway of [alone, shares]) await call(gateway)
  for (let round = 0; round < 9; round++) {
    const times = { alone: [] as number[], shares: [] as number[] }
    for (let at = 0; at < 200; at++) {
      times.alone.push(await call(alone))
      times.shares.push(await call(shares))
    }
    added.push(median(times.shares) - median(times.alone))
  }
}

/** Gateways under so many clients each, whose calls take so long and come after such pauses. */
async function load(clients: number, callMs: number, pauseMs: number, forMs: number) {
  let busyMs = 0
  let inFlight = 0
  let changedMs = performance.now()
  const change = (by: number): void => {
    const nowMs = performance.now()
    busyMs += inFlight * (nowMs - changedMs)
    changedMs = nowMs
    inFlight += by
  }
  await using upstream = await startSimulatedUpstream({
    reply: () => ({
      steps: (async function* () {
        change(1)
        yield wait(callMs)
        change(-1)
        yield reply
      })(),
    }),
  })
  await using one = await start(upstream.baseUrl, ['--share'], 4)
  await using other = await start(upstream.baseUrl, ['--share'], 4)
  const over = new AbortController()
  const running = [one, other].flatMap((gateway) =>
    Array.from({ length: clients }, async () => {
      while (!over.signal.aborted) {
        await call(gateway)
        if (pauseMs > 0) await new Promise((resolve) => void setTimeout(resolve, pauseMs * 2 * Math.random()))
      }
    }),
  )
  await new Promise((resolve) => void setTimeout(resolve, 1500))
  const askedBefore = await asked()
  change(0)
  const before = { busyMs, calls: upstream.requests.length, atMs: changedMs }
  await new Promise((resolve) => void setTimeout(resolve, forMs))
  change(0)
  const tookMs = changedMs - before.atMs
  const inUse = (busyMs - before.busyMs) / tookMs
  const calls = upstream.requests.length - before.calls
  await new Promise((resolve) => void setTimeout(resolve, 1500))
  const askedTimes = (await asked()) - askedBefore
  over.abort()
  await Promise.all(running)
  assert.ok(upstream.peakInFlight <= 4, `${upstream.peakInFlight} at once`)
  return { inUse, perCall: askedTimes / (calls * ((tookMs + 1500) / tookMs)) }
}

// Two clients on each of two gateways, half the time in a call.
const half = await load(2, 50, 50, 6000)
const full = await load(8, 200, 0, 6000)
connection.close()
console.log(
  `measured: ${median(added).toFixed(3)} ms added to the median of a call that finds a kept slot; ${half.perCall.toFixed(2)} messages a call at half load (${half.inUse.toFixed(1)} of 4 slots in use); ${full.inUse.toFixed(2)} of 4 slots in use at overload, ${full.perCall.toFixed(2)} messages a call`,
)
assert.ok(median(added) <= 0.05, 'too slow')
assert.ok(full.inUse >= 3.8, 'slots stand empty')
