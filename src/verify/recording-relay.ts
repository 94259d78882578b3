import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createServer, listenOnLoopback, type LoopbackServer } from '../lib/http.ts'
import { type Asked, send } from './ask.ts'
import type { SeenRequest } from './seen-exchange.ts'

/** A request, and how it was answered. */
interface RelayedExchange extends Asked {
  readonly request: SeenRequest
}

/** Stands before an upstream, hands on what it is sent, and remembers both ways. */
export interface RecordingRelay extends LoopbackServer {
  /** What was handed on, in the order in which the answers ended: when every answer that has begun is noted. */
  settled(): Promise<readonly RelayedExchange[]>
}

/** Listens on a free port of the loopback interface. */
export async function startRecordingRelay(upstreamOrigin: string): Promise<RecordingRelay> {
  const exchanges: RelayedExchange[] = []
  const underWay: Promise<void>[] = []
  const relay = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/', rawHeaders: headers } = req
    const request = { method, target, headers, body: await buffer(req) }
    const asked = await send(upstreamOrigin, request, res)
    exchanges.push({ request, ...asked })
    if (asked.error === null) res.end()
    else res.destroy()
  }
  const server = createServer({}, (req, res) => {
    underWay.push(relay(req, res).catch(() => void res.destroy()))
  })
  const listening = await listenOnLoopback(server)
  const settled = async (): Promise<typeof exchanges> => {
    await Promise.all(underWay)
    return exchanges
  }
  return { ...listening, settled }
}
