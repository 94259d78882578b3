/**
 * The benchmarks' upstream: prebuilt bytes over raw sockets, so that it takes as little of the two cores as
 * it can. A body with `"stream":true` gets an event stream whose pace the parent sets, and that ends after the number
 * of `"events"` where the body names one; any other the JSON answer.
 */
import { type Socket, createServer } from 'node:net'
import { jsonAnswer, stamped, streamEnd, streamEvent, streamHead } from './prebuilt-messages.ts'
import type { UpstreamCommand, UpstreamReport } from './program-messages.ts'

const headEnd = Buffer.from('\r\n\r\n')
const answer = jsonAnswer()
const event = streamEvent()
const largeAnswer = jsonAnswer(true)
const end = streamEnd()
const streamMark = Buffer.from('"stream":true')
const largeMark = Buffer.from('"large":true')
const eventsMark = Buffer.from('"events":')
const tickMs = 1
/** A body above this is read to its end and not kept, in bytes. */
const largestKept = 1_000_000

const streams: Socket[] = []
/** Events that are left of streams that end. */
const eventsLeft = new Map<Socket, number>()
let nextStream = 0
let eventsPerStreamS = 0
/** Up to here the streams' pace has been reckoned. */
let pacedUntilMs = 0
let owedEvents = 0

/** Takes whole requests off a connection; a head equal to the one before is not parsed again. */
function serve(socket: Socket): void {
  let held: Buffer | undefined
  let knownHead: Buffer = Buffer.alloc(0)
  let knownLength = 0
  let leftToDrop = 0
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    leave(socket)
  })
  socket.on('data', (bytes: Buffer) => {
    if (leftToDrop > 0) {
      leftToDrop -= bytes.length
      if (leftToDrop === 0) socket.write(answer)
      return
    }
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
      if (knownLength > largestKept) {
        leftToDrop = from + knownLength - input.length
        return
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
    socket.write(body.lastIndexOf(largeMark) < 0 ? answer : largeAnswer)
    return
  }
  const at = body.lastIndexOf(eventsMark)
  if (at >= 0)
    eventsLeft.set(socket, Number.parseInt(body.toString('latin1', at + eventsMark.length), 10) - 1)
  socket.write(streamHead())
  socket.write(stamped(event))
  streams.push(socket)
}

function leave(socket: Socket): void {
  const at = streams.indexOf(socket)
  if (at >= 0) streams.splice(at, 1)
  eventsLeft.delete(socket)
}

function sendEvent(socket: Socket): void {
  socket.write(stamped(event))
  const left = eventsLeft.get(socket)
  if (left === undefined) return
  if (left > 1) eventsLeft.set(socket, left - 1)
  else {
    leave(socket)
    socket.write(end)
  }
}

/** One event per write, the streams in turn, so that no two events of one stream meet in one read. */
function tick(): void {
  const nowMs = performance.now()
  owedEvents += ((nowMs - pacedUntilMs) / 1000) * eventsPerStreamS * streams.length
  pacedUntilMs = nowMs
  const count = Math.min(Math.floor(owedEvents), streams.length)
  for (let i = 0; i < count; i++) {
    nextStream = (nextStream + 1) % streams.length
    const socket = streams[nextStream]
    if (socket !== undefined) sendEvent(socket)
  }
  owedEvents -= count
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', 8192, () => {
  const address = server.address()
  report({ listening: typeof address === 'object' ? (address?.port ?? 0) : 0 })
})
setInterval(tick, tickMs)

process.on('message', (command: UpstreamCommand) => {
  eventsPerStreamS = command.eventsPerStreamS
  pacedUntilMs = performance.now()
  owedEvents = 0
  report({ openStreams: streams.length })
})
process.on('disconnect', () => process.exit())

function report(message: UpstreamReport): void {
  process.send?.(message)
}
