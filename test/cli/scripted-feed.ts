import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { sseEvent } from '../../src/lib/http/http.ts'
import { Condition } from '../support/condition.ts'

/** The part of a gateway that `tokenweir tail` sees. */
export interface ScriptedFeed extends AsyncDisposable {
  /** What was asked, with the token that came with it. */
  readonly asked: readonly { readonly target: string; readonly token: unknown }[]
  /** Waits until so many readers have come in all. */
  waitForReaders(count: number): Promise<void>
  /** Sends an event to those who read; a record where it has a seq. */
  tell(event: object): void
}

/** Where a scripted feed listens: a socket's path, or a port. */
export type FeedAddress = { readonly path: string } | { readonly port: number; readonly host: string }

/** What is answered in place of a feed. */
export interface FeedRefusal {
  readonly status: number
  readonly body: string
}

/** `await using feed = await startScriptedFeed({ path })` */
export async function startScriptedFeed(
  address: FeedAddress,
  enabled: boolean = false,
  refusal: FeedRefusal | null = null,
): Promise<ScriptedFeed> {
  const condition = new Condition()
  const asked: { target: string; token: unknown }[] = []
  const readers = new Set<ServerResponse>()
  const server: Server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const { 'x-tokenweir-admin-token': token } = req.headers
    asked.push({ target: `${req.method} ${req.url}`, token })
    condition.changed()
    if (refusal !== null) {
      res.writeHead(refusal.status, { 'Content-Type': 'application/json' }).end(refusal.body)
      return
    }
    readers.add(res)
    res.once('close', () => readers.delete(res))
    res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
    res.write(sseEvent(null, JSON.stringify({ type: 'connected', enabled })))
  })
  server.listen(address)
  await once(server, 'listening')
  return {
    asked,
    waitForReaders: async (count) => {
      await condition.until(() => (asked.length >= count ? true : undefined), `${count} readers`)
    },
    tell: (event) => {
      const frame = sseEvent(null, JSON.stringify(event), 'seq' in event ? String(event.seq) : undefined)
      for (const reader of readers) reader.write(frame)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
