import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Breaks off what is being answered; nothing runs on afterwards. */
  close(): Promise<void>
}

/** Lets a server listen on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close }
}
