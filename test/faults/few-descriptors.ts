/**
 * A gateway that may open few files, and many connections at once: `node test/faults/few-descriptors.ts [--files 256]
 * [--connects 1000]`. Ends with 1 where it crashed, or did not serve again by itself.
 */
import { execFileSync } from 'node:child_process'
import { type Socket, connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { SteadyLoad, steadyReply } from './steady-load.ts'

const { values } = parseArgs({
  options: { files: { type: 'string', default: '256' }, connects: { type: 'string', default: '1000' } },
})
const connects = Number(values.connects)
const holdMs = 5000

await using upstream = await startSimulatedUpstream({ reply: steadyReply })
await using gateway = await startGatewayProcess({
  upstream: upstream.baseUrl,
  args: ['--max-concurrent', '64'],
})
execFileSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${values.files}:`])
const sockets: Socket[] = []
let answered = 0
const body = '{"model":"m"}'
for (let count = 0; count < connects; count++) {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.once('data', () => answered++)
  socket.write(
    `POST /v1/chat/completions?json HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  sockets.push(socket)
}
await delay(holdMs)
const duringAnswered = answered
const endedAtMs = performance.now()
await Promise.all(
  sockets.map((socket) => {
    const closed = socket.closed ? Promise.resolve() : once(socket, 'close')
    socket.destroy()
    return closed
  }),
)
const after = new SteadyLoad(gateway.origin, 100)
await delay(2000)
await after.stop()
const wellAfterMs = (after.calls.find(({ fault }) => fault === null)?.atMs ?? Infinity) - endedAtMs
const failed = after.calls.flatMap((call) => call.fault ?? [])
const { code, signal } = await gateway.stop()
console.log(
  `measured: ${connects} connects at ${values.files} files: ${duringAnswered} answered meanwhile; afterwards ${failed.length} of ` +
    `${after.calls.length} calls failed, the first answered ${wellAfterMs.toFixed(0)} ms after; ended with ${code ?? signal}`,
)
for (const fault of new Set(failed)) console.log(`  ${fault}`)
if (code !== 0 || failed.length > 0) process.exitCode = 1
