import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A server on a loopback port from which lists of prices are had, or what takes their place. */
export interface ListServer extends AsyncDisposable {
  readonly origin: string
  /** What answers from now on. */
  answer: (req: IncomingMessage, res: ServerResponse) => void
  /** The requests' paths and their `if-none-match`, in order. */
  readonly seen: readonly (readonly [path: string, tag: string | undefined])[]
}

/** `await using server = await startListServer()` */
export async function startListServer(): Promise<ListServer> {
  const seen: (readonly [string, string | undefined])[] = []
  const server = createServer((req, res) => {
    seen.push([req.url ?? '', req.headers['if-none-match']])
    own.answer(req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own: ListServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (_, res) => res.writeHead(404).end(),
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return own
}
