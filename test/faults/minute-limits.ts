/**
 * Forty clients that want three times what a provider allows in a minute, for three minutes, with limits that are set or
 * learned: `node test/faults/minute-limits.ts [--seconds 180]`. Prints a table; ends with 1 where a promise was broken.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LimitedProvider, fullestMinute } from '../limits/limited-provider.ts'
import {
  clients,
  everyMs,
  makeSizes,
  play,
  requestsAMinute,
  serviceMs,
  tokensAMinute,
} from '../limits/simulated-minutes.ts'
import { freePort } from '../support/free-port.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { startPostgres } from '../support/postgres.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { SupervisedGateway } from '../../src/supervisor/supervised-gateway.ts'
import { makeWorkplace } from '../supervisor/workplace.ts'

const { values } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '180' } },
})
const lastMs = Number(values['seconds']) * 1000

interface Scene {
  readonly what: string
  readonly args: readonly string[]
  readonly isHonest?: boolean
  /** Restarts while it runs, after so many ms. */
  readonly restartsMs?: readonly number[]
  /** So many gateways share the limits; the clients are divided among them. */
  readonly gateways?: number
  /** Requests a minute of the first client. */
  readonly firstClientRpm?: number
  readonly holds: (outcome: Outcome) => boolean
}

interface Outcome {
  readonly calls: number
  readonly refused: number
  readonly refusedLate: number
  readonly used: number
  readonly fullest: number
  readonly wait: number
}

/**
 * A minute, and the tenth of a second that calls may take to arrive; rows have whole milliseconds. Where they arrive says little:
 * on a busy machine the provider looks late.
 */
const countedMs = 60_090

const set = [`--max-rpm=${requestsAMinute}`, `--max-tpm=${tokensAMinute}`]
const learn = ['--pace=learn']
const isKept = ({ refused, used, wait, fullest }: Outcome): boolean =>
  refused === 0 && used >= 0.95 && wait <= 1.15 && fullest <= tokensAMinute

const scenes: readonly Scene[] = [
  { what: 'nothing set', args: [], holds: ({ refused }) => refused > 0 },
  { what: set.join(' '), args: set, holds: isKept },
  {
    what: '--pace=learn',
    args: learn,
    holds: ({ calls, refusedLate, used, wait }) =>
      refusedLate <= 0.01 * calls && used >= 0.93 && wait <= 1.25,
  },
  {
    what: '--pace=learn --retry-429-max=3',
    args: [...learn, '--retry-429-max=3'],
    holds: ({ refused, used }) => refused === 0 && used >= 0.93,
  },
  {
    what: '--pace=learn, only 429 and retry-after',
    args: learn,
    isHonest: false,
    holds: ({ calls, refused, used }) => refused <= 0.05 * calls && used >= 0.85,
  },
  { what: 'set, two restarts', args: set, restartsMs: [50_000, 110_000], holds: isKept },
  {
    what: 'set, two gateways that share',
    args: set,
    gateways: 2,
    // A call of 8,000 tokens is a sixth of half the limit: more stays free that the next one does not fit into.
    holds: (outcome) => isKept({ ...outcome, used: outcome.used + 0.03 }),
  },
  { what: 'set, clients in turn', args: [...set, '--queue-order=fair'], holds: isKept },
  { what: 'set, one client with a limit of its own', args: set, firstClientRpm: 1, holds: isKept },
]

/** A provider on a port of its own. */
async function startProvider(isHonest: boolean) {
  const provider = new LimitedProvider(requestsAMinute, tokensAMinute)
  const startMs = performance.now()
  const server = createServer((req, res) => {
    let text = ''
    req.setEncoding('utf8').on('data', (part: string) => (text += part))
    req.on('end', () => {
      const { input, max_tokens: output } = JSON.parse(text) as { input: number; max_tokens: number }
      const waitMs = provider.ask(performance.now() - startMs, input + output)
      const headers = isHonest ? [...provider.headers()] : []
      if (waitMs !== null) {
        headers.push('retry-after', String(Math.ceil(waitMs / 1000)), 'content-type', 'application/json')
        res.writeHead(429, headers)
        res.end('{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}')
        return
      }
      setTimeout(() => {
        res.writeHead(200, [...headers, 'content-type', 'application/json'])
        const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
        const choices = [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }]
        res.end(JSON.stringify({ model: 'm', choices, usage }))
      }, serviceMs)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { provider, server, startMs, baseUrl: `http://127.0.0.1:${port}/v1` }
}

async function run(scene: Scene, idealWaitMs: number): Promise<Outcome> {
  const { args, isHonest = true, restartsMs = [], gateways = 1, firstClientRpm } = scene
  const { provider, server, startMs: providerMs, baseUrl } = await startProvider(isHonest)
  await using cleanup = new AsyncDisposableStack()
  const sharing = gateways === 1 ? null : cleanup.use(await startPostgres())
  const address = await sharing?.database('minutes')
  const ports: number[] = []
  const supervisors: SupervisedGateway[] = []
  const databases: string[] = []
  while (ports.length < gateways) {
    const place = cleanup.use(await makeWorkplace())
    if (firstClientRpm !== undefined)
      writeFileSync(place.file('clients.json'), JSON.stringify({ c0: { max_rpm: firstClientRpm } }))
    const port = await freePort()
    const shared = address === undefined ? [] : ['--share']
    const supervisor = place.supervisor({
      args: [`--port=${port}`, '--slot-cooldown-ms=0', ...shared, ...args],
      env: { ...process.env, TOKENWEIR_SHARE: address },
    })
    await supervisor.start({ max_concurrent: 100, upstream: baseUrl })
    ports.push(port)
    databases.push(place.file('telemetry.db'))
    supervisors.push(supervisor)
  }
  // A gateway that joins takes its first calls after a minute.
  if (gateways > 1) await sleep(62_000)
  const size = makeSizes(1)
  const random = seededRandom(2)
  const startMs = performance.now()
  const nowMs = (): number => performance.now() - startMs
  let [calls, refused, refusedLate, longestMs] = [0, 0, 0, 0]
  const client = async (at: number): Promise<void> => {
    await sleep(random() * everyMs)
    while (nowMs() < lastMs) {
      const cameMs = nowMs()
      const { input, output } = size()
      const head = JSON.stringify({ model: 'm', max_tokens: output, input, pad: '' })
      const body = head.replace('"pad":""', `"pad":"${'x'.repeat(Math.max(0, input * 4 - head.length))}"`)
      const headers = { 'content-type': 'application/json', 'x-tokenweir-client': `c${at}` }
      const answer = await fetch(`http://127.0.0.1:${ports[at % gateways]}/v1/chat/completions`, {
        method: 'POST',
        body,
        headers,
        signal: AbortSignal.timeout(600_000),
      })
      await answer.arrayBuffer()
      if (nowMs() > lastMs) return
      calls += 1
      longestMs = Math.max(longestMs, nowMs() - cameMs - serviceMs)
      if (answer.status !== 200) {
        refused += 1
        if (nowMs() > 10_000) refusedLate += 1
      }
      await sleep(Math.max(0, cameMs + everyMs - nowMs()))
    }
  }
  const loops = Array.from({ length: clients }, (_, at) => client(at).catch(() => {}))
  const restarts = restartsMs.map(async (afterMs) => {
    await sleep(afterMs)
    await supervisors[0]?.restart()
  })
  await Promise.all([sleep(lastMs), ...restarts])
  const fromMs = startMs - providerMs
  const taken = provider.taken.filter(([atMs]) => atMs <= fromMs + lastMs)
  for (const supervisor of supervisors) await supervisor.stop()
  const sent = databases
    .flatMap((file) => readCalls(file))
    .filter(({ status }) => status === 200)
    .map((row): [number, number] => {
      const { receive_ms, queue_ms, retry_wait_ms, connect_ms } = row
      const afterMs = [receive_ms, queue_ms, retry_wait_ms, connect_ms].reduce<number>(
        (sum, ms) => sum + (ms ?? 0),
        0,
      )
      return [Date.parse(row.started_at) + afterMs, (row.input_tokens ?? 0) + (row.output_tokens ?? 0)]
    })
    .toSorted(([one], [other]) => one - other)
  server.closeAllConnections()
  server.close()
  await Promise.all(loops)
  const used = taken.reduce((sum, [, tokens]) => sum + tokens, 0) / ((lastMs / 60_000) * tokensAMinute)
  const fullest = fullestMinute(sent, countedMs)
  return { calls, refused, refusedLate, used, fullest, wait: longestMs / idealWaitMs }
}

const ideal = await play({ isIdeal: true })
const outcomes = await Promise.all(scenes.map((scene) => run(scene, ideal.longestWaitMs)))
console.log(
  '| | calls | 429s that clients see (after 10 s) | of the limit used | tokens of the fullest minute | longest wait ÷ ideal | |',
)
console.log('|---|--:|--:|--:|--:|--:|---|')
let held = 0
for (const [at, outcome] of outcomes.entries()) {
  const { what, holds } = scenes[at]!
  const { calls, refused, refusedLate, used, fullest, wait } = outcome
  const isGood = holds(outcome)
  if (isGood) held += 1
  else process.exitCode = 1
  console.log(
    `| ${what} | ${calls} | ${refused} (${refusedLate}) | ${(used * 100).toFixed(1)} % | ${fullest} | ${wait.toFixed(2)} | ${isGood ? '✓' : '✗'} |`,
  )
}
console.log(`measured: ${held} of ${scenes.length} rows hold`)
