import type { Server } from 'node:http'
import { Duplex } from 'node:stream'
import { systemClock } from '../../src/call/clock.ts'
import { makeServer } from '../../src/gateway/http/listen.ts'
import { makeGatewayParts } from '../../src/gateway/process/gateway-parts.ts'
import type { Transport, TransportAttempt, TransportRequest } from '../../src/gateway/upstream/transport.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { parseOptions } from '../../src/cli/parse-options.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'

/** One answer of the upstream: its head as names and values, and the pieces of its body. */
export interface MemoryAnswer {
  readonly headers: readonly string[]
  readonly pieces: readonly Uint8Array[]
}

/** A whole gateway with its writer's thread and its store, without a socket on either side. */
export interface GatewayInMemory extends AsyncDisposable {
  /** A client's connection. */
  readonly connect: () => MemoryClient
  /** Calls of which rows stand in the database. */
  readonly written: number
}

/** What answers every request alike, once its body was read, and does nothing else: the yardstick. */
export function startBareInMemory({ headers, pieces }: MemoryAnswer): Pick<GatewayInMemory, 'connect'> {
  const server = makeServer()
  server.on('request', (req, res) => {
    res.sendDate = false
    req.on('data', () => {})
    req.on('end', () => {
      setImmediate(() => {
        res.writeHead(200, 'OK', [...headers])
        for (const piece of pieces.slice(0, -1)) res.write(piece)
        res.end(pieces.at(-1))
      })
    })
  })
  return { connect: () => connectTo(server) }
}

function connectTo(server: Server): MemoryClient {
  const client = new MemoryClient()
  server.emit('connection', client)
  return client
}

/** A client on a connection in memory: one request at a time. */
export class MemoryClient extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort = 1
  /** What the awaited answer ends with. */
  #end: Uint8Array = Buffer.alloc(0)
  #answered: (() => void) | null = null

  /** Sends a request; resolves when an answer has come that ends so. */
  ask(request: Uint8Array, end: Uint8Array): Promise<void> {
    this.#end = end
    this.push(request)
    return new Promise((resolve) => {
      this.#answered = resolve
    })
  }

  override _read(): void {
    // What comes is pushed.
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#took(chunk)
    done()
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: () => void): void {
    this.#took(chunks.at(-1)?.chunk ?? this.#end)
    done()
  }

  setTimeout(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  /** The last piece that was written. */
  #took(piece: Uint8Array): void {
    const length = Math.min(piece.length, this.#end.length)
    if (
      Buffer.compare(piece.subarray(piece.length - length), this.#end.subarray(this.#end.length - length)) !==
      0
    )
      return
    this.#answered?.()
    this.#answered = null
  }
}

/** Answers every request in the next turn of the event loop. */
class MemoryUpstream implements Transport {
  readonly answeringProxy = null
  readonly options = {
    connectTimeoutMs: 0,
    maxHeaderBytes: 65_536,
    firstByteTimeoutMs: 0,
    idleTimeoutMs: 0,
    connectRetryMs: 0,
    proxy: null,
  }
  readonly #head: Buffer[]
  readonly #pieces: readonly Buffer[]

  constructor({ headers, pieces }: MemoryAnswer) {
    this.#head = headers.map((part) => Buffer.from(part))
    this.#pieces = pieces.map((piece) => Buffer.from(piece))
  }

  send(_request: TransportRequest, attempt: TransportAttempt): void {
    setImmediate(() => {
      attempt.onConnect(() => {})
      attempt.onHeaders(200, this.#head, () => {}, 'OK')
      for (const piece of this.#pieces) attempt.onData(piece)
      attempt.onComplete([])
    })
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

/** `await using gateway = await startGatewayInMemory({ headers, pieces })` */
export async function startGatewayInMemory(answer: MemoryAnswer): Promise<GatewayInMemory> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  const args = [
    '--upstream',
    'http://127.0.0.1:9/v1',
    '--db',
    dir.file('calls.db'),
    '--max-concurrent',
    '1000',
  ]
  const server = makeServer()
  const parts = makeGatewayParts(
    {
      listener: { server, port: 0 },
      options: parseOptions(gatewayOptionTable, args, {}),
      secrets: {
        adminToken: null,
        upstreamKey: null,
        proxyFor: () => null,
        variable: () => undefined,
        traces: null,
      },
      version: '0',
      clock: systemClock,
      log: { say: () => {}, complain: console.error },
      handover: null,
      startedBy: { supervised: false, crash: null },
      share: null,
      limit: null,
    },
    () => {},
  )
  const { default: upstream } = parts.upstreams
  await upstream.close()
  Object.assign(upstream.endpoint, { transport: new MemoryUpstream(answer) })
  cleanup.defer(() => parts.sink.close())
  const owned = cleanup.move()
  return {
    connect: () => connectTo(server),
    get written() {
      return parts.sink.figures().written
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
