import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawLogStatus } from '../../api/raw-log.ts'
import { Failure } from '../../call/failure.ts'
import { readAtMost } from '../../lib/read-at-most.ts'
import { asFailure, writeErrorAnswer } from '../http/error-answer.ts'
import type { PayloadFeed } from './payload-feed.ts'
import type { RawLogService } from './raw-log-service.ts'
import { readToggle } from './toggle-body.ts'

const mostRecent = 1000
const recentByDefault = 50

interface Asked {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly query: URLSearchParams
}

/** Answers with what it resolves to as JSON; undefined if it has answered by itself. */
type Handle = (asked: Asked) => unknown

/** What is answered under `/v1/raw-log/`, to whoever was let in, and under `/raw-log/` on the control socket. */
export interface RawLogRoutes {
  /** Answers a request whose path ends in `name`. Never throws; its query has its question mark. */
  answer(name: string, query: string, req: IncomingMessage, res: ServerResponse): void
}

export function rawLogRoutes(log: RawLogService, feed: PayloadFeed): RawLogRoutes {
  const status = (): RawLogStatus => ({ ...log.status(), subscribers_count: feed.readers })

  async function toggle({ req }: Asked): Promise<object> {
    const order = readToggle(await readSmallBody(req))
    log.toggle(order.enabled, order.forMs)
    const { enabled, enabled_until, file_path, file_size_bytes } = status()
    return { success: true, enabled, enabled_until, file_path, file_size_bytes }
  }

  function recent({ query }: Asked): Promise<Uint8Array> {
    return log.recent(numberIn(query, 'limit', 1, mostRecent) ?? recentByDefault)
  }

  async function clear({ req }: Asked): Promise<object> {
    await readSmallBody(req)
    await log.clear()
    return { success: true }
  }

  function stream({ req, res, query }: Asked): void {
    feed.open(res, numberIn(query, 'last_event_id', 0, Number.MAX_SAFE_INTEGER) ?? lastEventId(req))
  }

  const routes = new Map<string, readonly [method: 'GET' | 'POST', handle: Handle]>([
    ['status', ['GET', status]],
    ['toggle', ['POST', toggle]],
    ['recent', ['GET', recent]],
    ['clear', ['POST', clear]],
    ['stream', ['GET', stream]],
  ])

  async function handle(
    name: string,
    query: string,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const [method, answer] = routes.get(name) ?? []
    if (method === undefined || answer === undefined) {
      const known = [...routes.keys()].join(', ')
      throw new Failure('not_found', `There is no such part of the raw log; there are ${known}.`)
    }
    if (req.method !== method) {
      throw new Failure('method_not_allowed', `${name} takes ${method}.`, { headers: ['Allow', method] })
    }
    const content = await answer({ req, res, query: new URLSearchParams(query) })
    if (content !== undefined) sendJson(res, content)
  }

  return {
    answer: (name, query, req, res) => {
      handle(name, query, req, res).catch((error: unknown) => {
        if (res.headersSent || res.destroyed) res.destroy()
        else writeErrorAnswer(res, asFailure(error), null)
      })
    },
  }
}

/** What a client sends by itself when it comes back; what is no seq of ours counts as none. */
function lastEventId(req: IncomingMessage): number | null {
  const text = req.headers['last-event-id']
  return typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : null
}

/** Null where it is absent. Throws `invalid_request`. */
function numberIn(query: URLSearchParams, name: string, least: number, most: number): number | null {
  const texts = query.getAll(name)
  const [text] = texts
  if (text === undefined) return null
  const value = texts.length === 1 && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const got = texts.join(', ').slice(0, 100)
  throw new Failure('invalid_request', `${name} must be a whole number from ${least} to ${most}; got ${got}`)
}

/** `content`: the bytes of JSON text, or what is to be written as such. */
function sendJson(res: ServerResponse, content: unknown): void {
  const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content))
  res.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  res.end(body)
}

const maxBodyBytes = 64 * 1024

/**
 * A body has to say that it is JSON: a form, or text that merely looks like JSON, is what another site's page could
 * send without asking first. Throws `invalid_request`.
 */
function checkBodyType(req: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': coding, 'content-type': type = '' } = req.headers
  const hasBody = coding !== undefined || Number(length ?? 0) > 0
  if (!hasBody || /^application\/json\s*(?:;|$)/i.test(type)) return
  throw new Failure('invalid_request', 'A body must be JSON and say so: Content-Type: application/json.')
}

/** A body of an own route; empty if there is none. Rejects with `invalid_request`, `body_too_large`, or `client_gone`. */
async function readSmallBody(req: IncomingMessage): Promise<string> {
  checkBodyType(req)
  // An iterator that is left early would destroy the connection, which has to bring the refusal.
  const body = await readAtMost(maxBodyBytes, req.iterator({ destroyOnReturn: false })).catch((cause) => {
    throw new Failure('client_gone', 'The client left while it sent its request.', { cause })
  })
  if (body !== null) return body
  throw new Failure('body_too_large', `The body is larger than ${maxBodyBytes / 1024} kB.`)
}
