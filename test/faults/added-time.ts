/**
 * What the gateway adds to each event of streams: `node test/faults/added-time.ts [--streams 50] [--rate 50]
 * [--seconds 10] [--rounds 3]`. Streams go direct and through the gateway in turn; upstream and clients are this
 * process, so one clock tells both ends of an event's way. Ends with 1 where the goal is missed (R5).
 */
import { type IncomingMessage, createServer, request } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../support/gateway-process.ts'

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '50' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
  },
})
const streams = Number(values.streams)
const periodMs = 1000 / Number(values.rate)
const events = Math.round(Number(values.seconds) * Number(values.rate))
const goalMs = { p50: 0.5, p99: 5 }

/** What one way took: of each event, and until the first one of each stream. */
interface Waits {
  readonly eventsMs: number[]
  readonly firstMs: number[]
}

const server = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    let sent = 0
    const timer = setInterval(() => {
      const text = `data: {"choices":[{"index":0,"delta":{"content":"x"}}],"at":${performance.now()}}\n\n`
      res.write(text)
      if (++sent < events) return
      clearInterval(timer)
      res.end('data: [DONE]\n\n')
    }, periodMs)
    res.on('close', () => clearInterval(timer))
  })
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
await using gateway = await startGatewayProcess({
  upstream: `${upstream}/v1`,
  args: ['--max-concurrent', String(streams)],
})

const direct: Waits = { eventsMs: [], firstMs: [] }
const through: Waits = { eventsMs: [], firstMs: [] }
for (let round = 0; round < Number(values.rounds); round++) {
  await streamAll(upstream, direct)
  await streamAll(gateway.origin, through)
}
await gateway.stop()
server.close()

const added = (part: number): number => at(through.eventsMs, part) - at(direct.eventsMs, part)
const addedFirst = at(through.firstMs, 0.99) - at(direct.firstMs, 0.99)
console.log(
  `measured: ${streams} streams, ${through.eventsMs.length} events: added p50 ${shown(added(0.5))}, p99 ${shown(added(0.99))} ` +
    `(direct ${shown(at(direct.eventsMs, 0.5))} and ${shown(at(direct.eventsMs, 0.99))}); ` +
    `first event added p99 ${shown(addedFirst)}`,
)
if (added(0.5) > goalMs.p50 || added(0.99) > goalMs.p99 || addedFirst > goalMs.p99) process.exitCode = 1

/** Streams that begin one after the other within a period, so that their events do not come at once. */
async function streamAll(origin: string, waits: Waits): Promise<void> {
  const ends: Promise<unknown>[] = []
  for (let stream = 0; stream < streams; stream++) {
    ends.push(follow(origin, waits))
    await new Promise((resolve) => setTimeout(resolve, periodMs / 4))
  }
  await Promise.all(ends)
}

async function follow(origin: string, { eventsMs, firstMs }: Waits): Promise<void> {
  const body = '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'
  const call = request(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length },
  })
  const calledMs = performance.now()
  call.end(body)
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  let rest = ''
  let isFirst = true
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    const nowMs = performance.now()
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const sentMs = Number(/"at":([\d.]+)/.exec(part)?.[1])
      if (Number.isNaN(sentMs)) continue
      eventsMs.push(nowMs - sentMs)
      if (isFirst) firstMs.push(nowMs - calledMs)
      isFirst = false
    }
  }
}

function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

function shown(ms: number): string {
  return `${ms.toFixed(2)} ms`
}
