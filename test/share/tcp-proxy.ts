import { once } from 'node:events'
import { type Socket, connect, createServer } from 'node:net'

/** Between gateways and their database: it can be cut, and nothing passes then. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Somebody was refused since it was cut. */
  readonly refused: Promise<void>
  /** Ends all connections, and refuses new ones; or, with `silent`, lets nothing through and ends none. */
  cut(silent?: boolean): void
  mend(): void
}

export async function startTcpProxy(to: () => number): Promise<TcpProxy> {
  const refused = Promise.withResolvers<void>()
  let state: 'whole' | 'cut' | 'silent' = 'whole'
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (state === 'cut') {
      client.once('close', () => refused.resolve()).destroy()
      return
    }
    const upstream = connect(to(), '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (bytes) => {
        if (state === 'whole') other.write(bytes)
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    refused: refused.promise,
    cut: (silent = false) => {
      state = silent ? 'silent' : 'cut'
      if (!silent) for (const socket of sockets) socket.destroy()
    },
    mend: () => {
      // What was swallowed would be missed.
      for (const socket of sockets) socket.destroy()
      state = 'whole'
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
