import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** Calls that have reached an upstream and are not over there; shared by upstreams whose calls count together. */
export class InFlight {
  now = 0
  most = 0
  /** All that ever arrived. */
  total = 0

  enter(): void {
    this.total += 1
    this.now += 1
    this.most = Math.max(this.most, this.now)
  }

  leave(): void {
    this.now -= 1
  }
}

/** What a call asks of the upstream, in its body. */
export interface AskedCall {
  readonly id: string
  readonly stream: boolean
  /** Of the whole answer. */
  readonly durationMs: number
}

export interface CountedUpstream extends AsyncDisposable {
  /** The origin and `/v1`. */
  readonly baseUrl: string
}

const tickMs = 100

/** The whole answer that an asked call gets, so that its client can tell whether it got it all. */
export function expectedAnswer({ id, stream, durationMs }: AskedCall): string {
  if (!stream)
    return JSON.stringify({ id, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
  const events = Array.from({ length: Math.ceil(durationMs / tickMs) }, (_, at) => eventOf(id, at))
  return `${events.join('')}data: [DONE]\n\n`
}

/** An upstream that takes the time that it is asked to take, and counts what it has in hand. */
export async function startCountedUpstream(inFlight: InFlight): Promise<CountedUpstream> {
  const server = createServer((req, res) => {
    inFlight.enter()
    res.once('close', () => inFlight.leave())
    void json(req).then((body) => answer(res, body as AskedCall))
  })
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function answer(res: ServerResponse, asked: AskedCall): void {
  if (asked.stream) {
    sendStream(res, asked)
    return
  }
  setTimeout(() => {
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(expectedAnswer(asked))
  }, asked.durationMs)
}

function sendStream(res: ServerResponse, { id, durationMs }: AskedCall): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' })
  let at = 0
  const timer = setInterval(() => {
    res.write(eventOf(id, at))
    at += 1
    if (at < Math.ceil(durationMs / tickMs)) return
    clearInterval(timer)
    res.end('data: [DONE]\n\n')
  }, tickMs)
  res.once('close', () => clearInterval(timer))
}

function eventOf(id: string, at: number): string {
  return `data: ${JSON.stringify({ id, choices: [{ index: 0, delta: { content: `w${at}` } }] })}\n\n`
}
