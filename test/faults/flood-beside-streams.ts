/**
 * A flood of tiny chunks beside ordinary streams: `node test/faults/flood-beside-streams.ts [--chunks 800000]
 * [--floods 5] [--streams 50]`. One upstream answers some calls with all its chunks in one write, the others with
 * an event every 100 ms; the gaps between these, as their clients see them, are told with and without floods. Ends
 * with 1 where the largest grew by more than 50 ms, or a byte of a flood was lost (R44).
 */
import { once } from 'node:events'
import { type Socket, connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { chunkFrame, lastChunk, responseHead } from '../support/response-bytes.ts'

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '800000' },
    floods: { type: 'string', default: '5' },
    streams: { type: 'string', default: '50' },
  },
})
const streams = Number(values.streams)
const periodMs = 100
const quietMs = 5000
const growthLimitMs = 50
const head = responseHead(200, [
  ['Content-Type', 'text/event-stream'],
  ['Transfer-Encoding', 'chunked'],
])
const flood = Buffer.concat([
  ...Array.from({ length: Number(values.chunks) }, () => chunkFrame('x')),
  lastChunk(),
])
const event = chunkFrame('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')

const upstream = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    socket.write(head)
    if (bytes.includes('flood')) {
      socket.write(flood)
      return
    }
    const timer = setInterval(() => socket.write(event), periodMs)
    socket.on('close', () => clearInterval(timer))
  })
})
await once(upstream.listen(0, '127.0.0.1'), 'listening')
await using gateway = await startGatewayProcess({
  upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
  args: ['--max-concurrent', String(streams + 1)],
})

let largestGapMs = 0
const sockets = await Promise.all(
  Array.from({ length: streams }, async (_, index) => {
    await delay((index * periodMs) / streams)
    const socket = await call('stream')
    let lastMs = performance.now()
    socket.on('data', () => {
      const nowMs = performance.now()
      largestGapMs = Math.max(largestGapMs, nowMs - lastMs)
      lastMs = nowMs
    })
    return socket
  }),
)
await delay(1000)
const quietGapMs = await largestGap(() => delay(quietMs))
const tookMs: number[] = []
const floodGapMs = await largestGap(async () => {
  for (let i = 0; i < Number(values.floods); i++) {
    const startedMs = performance.now()
    await readFlood(await call('flood'))
    tookMs.push(performance.now() - startedMs)
  }
})
for (const socket of sockets) socket.destroy()
await gateway.stop()
upstream.close()
const ms = (value: number): string => `${value.toFixed(0)} ms`
console.log(
  `measured: largest gap of ${streams} streams ${ms(quietGapMs)} without, ${ms(floodGapMs)} with floods of ${values.chunks} chunks, ` +
    `which took ${ms(Math.min(...tookMs))} to ${ms(Math.max(...tookMs))}`,
)
if (floodGapMs - quietGapMs > growthLimitMs) process.exitCode = 1

async function largestGap(during: () => Promise<unknown>): Promise<number> {
  largestGapMs = 0
  await during()
  return largestGapMs
}

async function call(what: string): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1')
  await once(socket, 'connect')
  const body = `{"model":"${what}","stream":true,"stream_options":{"include_usage":true}}`
  socket.write(requestBytes('POST', '/v1/chat/completions', { body }))
  return socket
}

/** Resolves with its last byte; what is behind the head must be what the upstream sent. */
async function readFlood(socket: Socket): Promise<void> {
  let size = 0
  let headEnd = -1
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    if (headEnd < 0) headEnd = bytes.indexOf('\r\n\r\n') + 4
    size += bytes.length
    if (size < headEnd + flood.length) continue
    if (size > headEnd + flood.length) process.exitCode = 1
    socket.destroy()
    return
  }
  process.exitCode = 1
}
