/**
 * Crowds that would bring a careless proxy down, one after the other, while others are served:
 * `node test/faults/crowds.ts [--crowd stalled|slowloris|refused]`. Ends with 1 where a limit was passed.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type Socket, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { residentBytes } from '../../bench/process-figures.ts'
import { requestBytes } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilIdle } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { inParallel } from '../support/in-parallel.ts'
import { stall, write } from '../support/reply-step.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import type { CrowdTask } from './crowd-worker.ts'
import { SteadyLoad, steadyReply } from './steady-load.ts'

const { values } = parseArgs({ options: { crowd: { type: 'string', default: 'stalled' } } })
const stalled = { clients: 1000, bytes: 3_200_000, rssMb: 150, healthMs: 100, forMs: 10_000 } as const
const slowloris = { clients: 800, byteEveryMs: 1000, healthMs: 200, forMs: 30_000 } as const
const refused = { calls: 10_000, width: 32, rssMb: 20, answerMs: 5 } as const

interface Watched {
  /** Of `/health`: the slowest answer, and the one that 95 of 100 were faster than. */
  readonly slowestMs: number
  readonly p95Ms: number
  readonly peakMb: number
}

/** Asks for `/health` again and again, for so long. */
async function watch(gateway: GatewayProcess, forMs: number): Promise<Watched> {
  const tookMs: number[] = []
  let peakMb = 0
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs; await delay(50)) {
    const startedMs = performance.now()
    await gateway.health()
    tookMs.push(performance.now() - startedMs)
    peakMb = Math.max(peakMb, residentBytes(gateway.pid) / 1e6)
  }
  tookMs.sort((x, y) => x - y)
  return { slowestMs: tookMs.at(-1) ?? 0, p95Ms: tookMs[Math.floor(tookMs.length * 0.95)] ?? 0, peakMb }
}

function wordsOf({ slowestMs, p95Ms }: Watched): string {
  return `/health p95 ${p95Ms.toFixed(0)} ms, slowest ${slowestMs.toFixed(0)} ms`
}

function openSocket(gateway: GatewayProcess, bytes: string | Buffer): Socket {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

/** Its first word comes when it has begun; it ends with all that it holds. */
async function startCrowd(task: CrowdTask): Promise<{ readonly word: string } & AsyncDisposable> {
  const worker = new Worker(new URL('crowd-worker.ts', import.meta.url), { workerData: task })
  const [word] = (await once(worker, 'message')) as [string]
  return { word, [Symbol.asyncDispose]: async () => void (await worker.terminate()) }
}

/** 3.2 MB for each of a thousand clients, none of which reads. */
async function stalledReaders(): Promise<boolean> {
  await using upstream = await startCrowd({ role: 'upstream', largeBytes: stalled.bytes })
  const args = ['--max-concurrent', String(stalled.clients + 10)]
  await using gateway = await startGatewayProcess({ upstream: upstream.word, args })
  const load = new SteadyLoad(gateway.origin, 20)
  await delay(1000)
  const beforeMb = residentBytes(gateway.pid) / 1e6
  const crowd = await startCrowd({ role: 'stalled', port: gateway.port, clients: stalled.clients })
  const watched = await watch(gateway, stalled.forMs)
  const active = asRecord((await gateway.health())['rate_limiter'])['peak_active']
  await crowd[Symbol.asyncDispose]()
  await load.stop()
  await untilIdle(gateway)
  const failed = load.calls.filter(({ fault }) => fault !== null).length
  const grownMb = watched.peakMb - beforeMb
  console.log(
    `measured: ${stalled.clients} readers of ${stalled.bytes / 1e6} MB stalled, ${String(active)} at a time: memory ` +
      `+${grownMb.toFixed(0)} MB, ${wordsOf(watched)}, ${failed} of ${load.calls.length} other calls failed`,
  )
  return failed === 0 && grownMb <= stalled.rssMb && watched.slowestMs <= stalled.healthMs
}

/** Of a third a byte of the head comes each second, of a third one of the body, and a third reads one. */
async function slowClients(): Promise<boolean> {
  await using upstream = await startCrowd({ role: 'upstream', largeBytes: 1_000_000 })
  await using gateway = await startGatewayProcess({
    upstream: upstream.word,
    args: ['--max-concurrent', '400'],
  })
  const load = new SteadyLoad(gateway.origin, 20)
  const { clients, byteEveryMs, forMs } = slowloris
  const crowd = await startCrowd({ role: 'slow', port: gateway.port, clients, byteEveryMs })
  const watched = await watch(gateway, forMs)
  await crowd[Symbol.asyncDispose]()
  await load.stop()
  await untilIdle(gateway)
  const failed = load.calls.filter(({ fault }) => fault !== null).length
  console.log(
    `measured: ${clients} slow connections for ${forMs / 1000} s: ${wordsOf(watched)}, ` +
      `${failed} of ${load.calls.length} other calls failed`,
  )
  return failed === 0 && watched.slowestMs <= slowloris.healthMs
}

/** Ten thousand calls while the one slot is taken and nobody may wait. */
async function refusedCalls(): Promise<boolean> {
  await using upstream = await startSimulatedUpstream({
    reply: (seen) => (seen.target.includes('hold') ? [write(''), stall()] : steadyReply(seen)),
  })
  const args = ['--max-concurrent', '1', '--queue-limit', '0']
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, args })
  const holder = openSocket(
    gateway,
    requestBytes('POST', '/v1/chat/completions?hold', { body: '{"model":"m"}' }),
  )
  await untilCalls(gateway, { active: 1, queued: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: refused.width })
  const call = (): Promise<{ status: number; retryAfter: boolean; tookMs: number }> =>
    new Promise((resolve, reject) => {
      const startedMs = performance.now()
      const asked = request(
        { agent, port: gateway.port, method: 'POST', path: '/v1/chat/completions' },
        (response) => {
          response.resume().on('end', () => {
            const retryAfter = response.headers['retry-after'] !== undefined
            resolve({ status: response.statusCode ?? 0, retryAfter, tookMs: performance.now() - startedMs })
          })
        },
      )
      asked.on('error', reject).end('{"model":"m"}')
    })
  const all = Array.from({ length: refused.calls }, (_, index) => index)
  // As warm as it gets: what is then taken is a leak.
  await inParallel(all, refused.width, call)
  const beforeMb = residentBytes(gateway.pid) / 1e6
  const answers = await inParallel(all, refused.width, call)
  const grownMb = residentBytes(gateway.pid) / 1e6 - beforeMb
  const alone = await inParallel(all.slice(0, 200), 1, call)
  agent.destroy()
  holder.destroy()
  const right = answers.filter(({ status, retryAfter }) => status === 503 && retryAfter).length
  const tookMs = alone.map((answer) => answer.tookMs).sort((a, b) => a - b)
  const p99 = tookMs[Math.floor(tookMs.length * 0.99)] ?? Infinity
  console.log(
    `measured: ${right} of ${refused.calls} calls got 503 with Retry-After; memory +${grownMb.toFixed(1)} MB over the second ` +
      `${refused.calls}; one at a time p50 ${tookMs[100]?.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
  )
  return right === refused.calls && grownMb <= refused.rssMb && (tookMs[100] ?? Infinity) <= refused.answerMs
}

const crowds = { stalled: stalledReaders, slowloris: slowClients, refused: refusedCalls } as const
const crowd = crowds[values.crowd as keyof typeof crowds]
if (!(await crowd())) process.exitCode = 1
