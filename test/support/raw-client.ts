import { connect, type Socket } from 'node:net'
import { Condition } from './condition.ts'
import { type RawResponse, parseRawResponse } from './raw-response.ts'

/** How the server ended the connection: in order (FIN), or torn down (RST). */
export type ServerEnd = 'fin' | 'reset'

/** A TCP connection on which a test sends exact bytes and sees exactly what comes back. */
export interface RawClient extends AsyncDisposable {
  /** Everything received and not yet taken by `response`. */
  readonly received: Buffer
  /** When each read arrived, `performance.now()` in milliseconds, and how many bytes it brought. */
  readonly reads: readonly { readonly atMs: number; readonly byteLength: number }[]
  /** `undefined` while the server has the connection open. */
  readonly serverEnd: ServerEnd | undefined
  /** Settles when the kernel has the bytes. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Waits until what was received contains this text or at least this many bytes. */
  waitForBytes(wanted: string | number, limitMs?: number): Promise<Buffer>
  /**
   * The next response, taken off `received`, once it is complete or the server has ended the connection.
   * `method` is that of the request it answers. Rejects if the connection ends before a whole head.
   */
  response(method?: string, limitMs?: number): Promise<RawResponse>
  waitForServerEnd(limitMs?: number): Promise<ServerEnd>
  /** Reads nothing more, so that the server meets a full socket, until `resumeReading`. */
  stopReading(): void
  resumeReading(): void
  /** Ends our side in order; the server may still answer. */
  endSending(): void
  /** Leaves as a killed process does: FIN, or RST when bytes were still unread. */
  leave(): void
  /** Leaves with an RST. */
  reset(): void
}

/** `await using client = await openRawClient(port)` */
export async function openRawClient(port: number, host = '127.0.0.1'): Promise<RawClient> {
  const socket = await open(port, host)
  const condition = new Condition()
  const reads: { atMs: number; byteLength: number }[] = []
  // Put together only when somebody looks: a client that does it with every piece reads long answers ever slower.
  let pieces: Buffer[] = []
  let byteLength = 0
  let serverEnd: ServerEnd | undefined

  const ended = (how: ServerEnd): void => {
    serverEnd ??= how
    condition.changed()
  }
  const received = (): Buffer => {
    if (pieces.length !== 1) pieces = [Buffer.concat(pieces)]
    return pieces[0]!
  }
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes)
    byteLength += bytes.length
    reads.push({ atMs: performance.now(), byteLength: bytes.length })
    condition.changed()
  })
  socket.on('end', () => ended('fin'))
  socket.on('error', () => ended('reset'))
  // Nothing more comes: who still waits would keep the test's process alive.
  socket.on('close', () => condition.close('the connection is closed'))

  const taken = (method: string): RawResponse | undefined => {
    const response = parseRawResponse(received(), method)
    if (response === undefined || (!response.complete && serverEnd === undefined)) return undefined
    pieces = [received().subarray(response.byteLength)]
    byteLength -= response.byteLength
    return response
  }

  return {
    get received() {
      return received()
    },
    reads,
    get serverEnd() {
      return serverEnd
    },
    send: (bytes) =>
      new Promise((resolve) => {
        socket.write(bytes, () => resolve())
      }),
    waitForBytes: (wanted, limitMs) => {
      const enough = (): boolean =>
        typeof wanted === 'number' ? byteLength >= wanted : received().includes(wanted)
      return condition.until(() => (enough() ? received() : undefined), `${wanted} from the server`, limitMs)
    },
    response: async (method = 'GET', limitMs) => {
      const ready = (): RawResponse | 'nothing' | undefined =>
        taken(method) ?? (serverEnd === undefined ? undefined : 'nothing')
      const response = await condition.until(ready, 'a response', limitMs)
      if (response === 'nothing') throw new Error(`the connection ended (${serverEnd}) without a response`)
      return response
    },
    waitForServerEnd: (limitMs) =>
      condition.until(() => serverEnd, 'the server to end the connection', limitMs),
    stopReading: () => {
      socket.pause()
    },
    resumeReading: () => {
      socket.resume()
    },
    endSending: () => {
      socket.end()
    },
    leave: () => {
      socket.destroy()
    },
    reset: () => {
      socket.resetAndDestroy()
    },
    [Symbol.asyncDispose]: () => {
      socket.destroy()
      return Promise.resolve()
    },
  }
}

function open(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, allowHalfOpen: true, noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
