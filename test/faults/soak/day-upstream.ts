import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { asRecord } from '../../support/json-record.ts'
import { InFlight } from '../../supervisor/counted-upstream.ts'
import type { PlannedCall } from './day.ts'
import { answerPieces } from './day-answer.ts'

/** The upstream's own books: which calls reached it, how often, and which answers it wrote to their ends. */
export interface DayUpstream extends AsyncDisposable {
  readonly baseUrl: string
  readonly inFlight: InFlight
  /** By the call's number. */
  readonly reached: ReadonlyMap<number, number>
  readonly served: ReadonlySet<number>
}

/** An upstream that answers each call as it was planned. */
export async function startDayUpstream(
  planned: (n: number) => PlannedCall | undefined,
): Promise<DayUpstream> {
  const inFlight = new InFlight()
  const reached = new Map<number, number>()
  const served = new Set<number>()

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const n = Number(new URL(req.url ?? '', 'http://upstream').searchParams.get('call') ?? NaN)
    const call = planned(n)
    if (call === undefined) throw new Error(`nobody has planned call ${n}`)
    inFlight.enter()
    res.once('close', () => inFlight.leave())
    reached.set(n, (reached.get(n) ?? 0) + 1)
    const body = asRecord(await json(req))
    const withUsage = asRecord(body['stream_options'])['include_usage'] === true
    if (call.kind === 'hung') return
    await sleep(call.firstMs)
    const pieces = answerPieces(call, withUsage)
    if (await writeAnswer(res, call, pieces)) served.add(n)
  }
  const server = createServer((req, res) => {
    // A client that leaves in the middle ends its request with an error: the books tell what it had.
    answer(req, res).catch(() => res.destroy())
  })
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    inFlight,
    reached,
    served,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Whether it was written to its end. */
async function writeAnswer(
  res: ServerResponse,
  call: PlannedCall,
  pieces: readonly string[],
): Promise<boolean> {
  if (!call.stream) {
    const status = call.kind === 'answered 429' ? 429 : call.kind === 'answered 500' ? 500 : 200
    const body = pieces.join('')
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    res.end(body)
    return !res.destroyed
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const cutAt = call.kind === 'cut' ? Math.ceil(call.output / 2) : Infinity
  for (const [at, piece] of pieces.entries()) {
    if (res.destroyed) return false
    if (at >= cutAt) {
      res.destroy()
      return false
    }
    res.write(piece)
    if (at < call.output) await sleep(call.gapMs)
  }
  res.end()
  return !res.destroyed
}
