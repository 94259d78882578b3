/** The benchmarks' client: raw sockets that share one read buffer, counting answers or events. */
import { type Socket, connect } from 'node:net'
import { requestBytes, sinceWrittenMs } from './prebuilt-messages.ts'
import type { LoadCommand, LoadReport } from './program-messages.ts'

const shared = Buffer.alloc(65_536)
const opensAtOnce = 50
const newline = 10
const lastChunk = '0\r\n\r\n'
const stopLimitMs = 20 * 60_000
/** Longest silence of a stream that is being opened. */
const openLimitMs = 20_000

let counted = 0
let reads = 0
let failed = 0
let waitsMs: number[] = []
let stopping = false
let openSockets: Socket[] = []

/** Says when the next call of a connection goes out. */
interface Pace {
  /** Calls `send` when it is this connection's turn, with the time from which the client has waited. */
  admit(socket: Socket, send: (sinceMs: number) => void): void
  stop(): void
}

/** Holds calls back that would go beyond the highest rate, until the next tick. */
class Pacer implements Pace {
  readonly #maxPerS: number
  readonly #waiting: { readonly socket: Socket; readonly send: (sinceMs: number) => void }[] = []
  readonly #timer: NodeJS.Timeout
  #allowed = 0
  #lastMs = performance.now()

  constructor(maxPerS: number) {
    this.#maxPerS = maxPerS
    this.#timer = setInterval(() => this.#tick(), 1)
  }

  admit(socket: Socket, send: (sinceMs: number) => void): void {
    if (this.#allowed < 1) this.#waiting.push({ socket, send })
    else {
      this.#allowed -= 1
      send(performance.now())
    }
  }

  /** Calls that were not made within ten milliseconds are dropped, so no burst above the rate follows a pause. */
  #tick(): void {
    const nowMs = performance.now()
    const earned = ((nowMs - this.#lastMs) / 1000) * this.#maxPerS
    this.#allowed = Math.min(this.#allowed + earned, this.#maxPerS / 100)
    this.#lastMs = nowMs
    while (this.#allowed >= 1) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.admit(next.socket, next.send)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const { socket } of this.#waiting) socket.destroy()
  }
}

/**
 * Calls come at a fixed rate, whether answers come or not (open loop): a call that finds every connection in use has
 * waited since it was due, so a pause of the proxy counts for all calls that it holds up.
 */
class FixedRate implements Pace {
  readonly #everyMs: number
  readonly #idle: { readonly socket: Socket; readonly send: (sinceMs: number) => void }[] = []
  /** When calls became due for which no connection was free, the oldest first. */
  readonly #due: number[] = []
  readonly #timer: NodeJS.Timeout
  #nextMs = performance.now()

  constructor(perS: number) {
    this.#everyMs = 1000 / perS
    this.#timer = setInterval(() => this.#tick(), 1)
  }

  admit(socket: Socket, send: (sinceMs: number) => void): void {
    const sinceMs = this.#due.shift()
    if (sinceMs === undefined) this.#idle.push({ socket, send })
    else send(sinceMs)
  }

  #tick(): void {
    const nowMs = performance.now()
    for (; this.#nextMs <= nowMs; this.#nextMs += this.#everyMs) {
      const free = this.#idle.shift()
      if (free === undefined) this.#due.push(nowMs)
      else free.send(nowMs)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const { socket } of this.#idle) socket.destroy()
  }
}

/** A connection that makes one call after the other until it is stopped. */
function callOn(port: number, request: Buffer, pace: Pace): Socket {
  let partial = ''
  let left = 0
  /** Of an answer without a length, its last bytes. */
  let tail: string | undefined
  let waitsSinceMs = 0
  const send = (sinceMs: number): void => {
    waitsSinceMs = sinceMs
    socket.write(request)
  }
  const answered = (): void => {
    counted += 1
    waitsMs.push(performance.now() - waitsSinceMs)
    if (stopping) socket.destroy()
    else pace.admit(socket, send)
  }
  const readTail = (text: string): void => {
    tail = ((tail ?? '') + text).slice(-lastChunk.length)
    if (tail !== lastChunk) return
    tail = undefined
    answered()
  }
  const read = (length: number): boolean => {
    reads += 1
    if (left > 0) {
      left -= length
      if (left === 0) answered()
      return true
    }
    if (tail !== undefined) {
      readTail(shared.toString('latin1', Math.max(0, length - lastChunk.length), length))
      return true
    }
    const text = partial + shared.toString('latin1', 0, length)
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) {
      partial = text
      return true
    }
    partial = ''
    const match = /\r\ncontent-length: (\d+)/i.exec(text)
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(text.slice(0, headEnd + 2))
    if ((match === null && !isChunked) || !text.startsWith('HTTP/1.1 200 ')) {
      failed += 1
      socket.destroy()
      return true
    }
    if (match === null) {
      tail = ''
      readTail(text.slice(headEnd + 4))
      return true
    }
    left = headEnd + 4 + Number(match[1]) - text.length
    if (left === 0) answered()
    return true
  }
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: shared, callback: read },
  })
  socket.on('error', () => {
    failed += 1
  })
  socket.on('connect', () => pace.admit(socket, send))
  return socket
}

async function runCalls(command: Extract<LoadCommand, { do: 'calls' }>): Promise<void> {
  stopping = false
  const { large = false, headers } = command
  const request = requestBytes(command.port, false, { large, headers })
  const pace = command.isFixedRate === true ? new FixedRate(command.maxPerS) : new Pacer(command.maxPerS)
  const sockets = Array.from({ length: command.clients }, () => callOn(command.port, request, pace))
  await delay(command.warmMs)
  failed = 0
  await count(command.ms)
  stopping = true
  pace.stop()
  await delay(50)
  for (const socket of sockets) socket.destroy()
}

/** A connection on which one stream follows the other. */
function streamsOn(port: number, request: Buffer): Socket {
  let tail = ''
  let sentMs = 0
  const send = (): void => {
    sentMs = performance.now()
    socket.write(request)
  }
  const read = (length: number): boolean => {
    reads += 1
    tail = (tail + shared.toString('latin1', Math.max(0, length - lastChunk.length), length)).slice(
      -lastChunk.length,
    )
    if (tail !== lastChunk) return true
    tail = ''
    counted += 1
    waitsMs.push(performance.now() - sentMs)
    if (stopping) socket.destroy()
    else send()
    return true
  }
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: shared, callback: read },
  })
  socket.on('error', () => {
    failed += 1
  })
  socket.on('connect', send)
  return socket
}

async function runStreams(command: Extract<LoadCommand, { do: 'streams' }>): Promise<void> {
  stopping = false
  const request = requestBytes(command.port, true, { events: command.events })
  const sockets: Socket[] = []
  for (let i = 0; i < command.clients; i++) {
    sockets.push(streamsOn(command.port, request))
    await delay(command.apartMs)
  }
  await delay(command.warmMs)
  failed = 0
  await count(command.ms)
  stopping = true
  for (const socket of sockets) socket.destroy()
}

/** Announces that counting begins, and reports the counts. */
async function count(ms: number): Promise<void> {
  report({ counting: true })
  counted = 0
  reads = 0
  waitsMs = []
  const startMs = performance.now()
  await delay(ms)
  report({ counted, reads, failed, elapsedMs: performance.now() - startMs, waitsMs })
}

/** Opens one stream; settles when its first event is there. */
function openStream(port: number, request: Buffer, fromWrite: boolean): Promise<void> {
  return new Promise((resolve) => {
    let last = 0
    let lastMs = 0
    const read = (length: number): boolean => {
      reads += 1
      let events = 0
      for (let i = 0; i < length; i++) {
        const byte = shared[i]!
        if (byte === newline && last === newline) events += 1
        last = byte
      }
      counted += events
      if (events > 0) {
        const nowMs = performance.now()
        if (fromWrite) waitsMs.push(...sinceWrittenMs(shared.toString('latin1', 0, length)))
        else waitsMs.push(nowMs - lastMs)
        lastMs = nowMs
        resolve()
      }
      return true
    }
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: shared, callback: read },
    })
    const lost = (): void => {
      if (!stopping) failed += 1
      resolve()
    }
    socket.on('error', () => undefined)
    socket.on('close', lost)
    socket.setTimeout(openLimitMs, () => socket.destroy())
    socket.on('connect', () => socket.write(request))
    openSockets.push(socket)
  })
}

async function openStreams(command: Extract<LoadCommand, { do: 'open' }>): Promise<void> {
  stopping = false
  failed = 0
  const { port, streams, headers, fromWrite = false } = command
  const request = requestBytes(port, true, { headers })
  let started = 0
  const opener = async (): Promise<void> => {
    while (started < streams) {
      started += 1
      await openStream(port, request, fromWrite)
    }
  }
  await Promise.all(Array.from({ length: Math.min(opensAtOnce, streams) }, opener))
  report({ open: openSockets.length - failed, failed })
}

function closeStreams(): void {
  stopping = true
  for (const socket of openSockets) socket.destroy()
  openSockets = []
  report({ closed: true })
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function report(message: LoadReport): void {
  process.send?.(message)
}

process.on('message', (command: LoadCommand) => {
  if (command.do === 'calls') void runCalls(command)
  else if (command.do === 'streams') void runStreams(command)
  else if (command.do === 'open') void openStreams(command)
  else if (command.do === 'count') void count(command.ms)
  else closeStreams()
})
process.on('disconnect', () => process.exit())
setTimeout(() => process.exit(1), stopLimitMs).unref()
report({ ready: true })
