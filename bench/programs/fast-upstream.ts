/**
 * The benchmarks' upstream: prebuilt bytes over raw sockets, so that it takes as little of the two cores as
 * it can. A body with `"stream":true` gets an event stream whose pace the parent sets; any other the JSON answer.
 */
import { type Socket, createServer } from 'node:net'
import { jsonAnswer, streamEvent, streamHead } from './prebuilt-messages.ts'
import type { UpstreamCommand, UpstreamReport } from './program-messages.ts'

const headEnd = Buffer.from('\r\n\r\n')
const answer = jsonAnswer()
const event = streamEvent()
const streamMark = Buffer.from('"stream":true')
const tickMs = 1

const streams: Socket[] = []
let nextStream = 0
let eventsPerStreamS = 0
let pacedFromMs = 0
let sentEvents = 0

/** Takes whole requests off a connection; a head equal to the one before is not parsed again. */
function serve(socket: Socket): void {
  let held: Buffer | undefined
  let knownHead: Buffer = Buffer.alloc(0)
  let knownLength = 0
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    const at = streams.indexOf(socket)
    if (at >= 0) streams.splice(at, 1)
  })
  socket.on('data', (bytes: Buffer) => {
    let input = held === undefined ? bytes : Buffer.concat([held, bytes])
    held = undefined
    for (;;) {
      const end = input.indexOf(headEnd)
      if (end < 0) break
      const from = end + headEnd.length
      if (knownHead.length !== from || knownHead.compare(input, 0, from) !== 0) {
        knownHead = Buffer.from(input.subarray(0, from))
        knownLength = Number(/content-length: *(\d+)/i.exec(knownHead.toString('latin1'))?.[1] ?? 0)
      }
      if (input.length < from + knownLength) break
      respond(socket, input.subarray(from, from + knownLength))
      input = input.subarray(from + knownLength)
    }
    if (input.length > 0) held = input
  })
}

function respond(socket: Socket, body: Buffer): void {
  if (body.lastIndexOf(streamMark) < 0) {
    socket.write(answer)
    return
  }
  socket.write(streamHead())
  socket.write(event)
  streams.push(socket)
}

/** One event per write, the streams in turn, so that no two events of one stream meet in one read. */
function tick(): void {
  const due =
    Math.floor(((performance.now() - pacedFromMs) / 1000) * eventsPerStreamS * streams.length) - sentEvents
  const count = Math.min(due, streams.length)
  for (let i = 0; i < count; i++) {
    nextStream = (nextStream + 1) % streams.length
    streams[nextStream]!.write(event)
  }
  sentEvents += Math.max(0, count)
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', 8192, () => {
  const address = server.address()
  report({ listening: typeof address === 'object' ? (address?.port ?? 0) : 0 })
})
setInterval(tick, tickMs)

process.on('message', (command: UpstreamCommand) => {
  eventsPerStreamS = command.eventsPerStreamS
  pacedFromMs = performance.now()
  sentEvents = 0
  report({ openStreams: streams.length })
})
process.on('disconnect', () => process.exit())

function report(message: UpstreamReport): void {
  process.send?.(message)
}
