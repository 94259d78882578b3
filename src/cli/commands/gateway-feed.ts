import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ControlClient } from '../../control/control-client.ts'
import { refusalIn } from '../../control/control-messages.ts'
import { codeOf, messageOf } from '../../lib/caught.ts'
import { socketName } from '../../control/control-socket.ts'

/** How long the answer's head may take to come. */
const headLimitMs = 10_000

/** Where a gateway's feed of payloads may be had. */
export interface FeedPlace {
  /** For a person to read. */
  readonly name: string
  /**
   * Behind the event with this id, or where it is now; null if nobody answers. Rejects in words if somebody does
   * who cannot or will not give it.
   */
  open(lastEventId: string | null): Promise<Readable | null>
}

/** No gateway answers anywhere; the message says where it was looked for. */
export class NoGatewayError extends Error {
  constructor(places: readonly FeedPlace[]) {
    const names = places.map(({ name }) => name).join(' or ')
    super(`no gateway answers on ${names}: start one with "tokenweir gateway", or name it with --url`)
    this.name = 'NoGatewayError'
  }
}

/** The feed of the first place that has one; from then on that of this place alone, however long it is away. */
export interface GatewayFeed {
  /** Where it is had, once it is. */
  readonly name: () => string
  /** Null if it has gone away. Rejects with {@link NoGatewayError} if there was none yet, and as a place does. */
  readonly open: (lastEventId: string | null) => Promise<Readable | null>
}

export function gatewayFeed(places: readonly FeedPlace[]): GatewayFeed {
  let found: FeedPlace | null = null
  return {
    name: () => found?.name ?? '',
    open: async (lastEventId) => {
      // Whatever is wrong with a place that had it, it was right before, and may be again.
      if (found !== null) return found.open(lastEventId).catch(() => null)
      for (const place of places) {
        const stream = await place.open(lastEventId)
        if (stream === null) continue
        found = place
        return stream
      }
      throw new NoGatewayError(places)
    },
  }
}

/** The feed of the gateway of a data folder, over its control socket: whoever may open that needs no token. */
export function socketPlace(folder: string): FeedPlace {
  const client = new ControlClient(folder)
  const name = join(folder, socketName)
  return {
    name,
    open: async (lastEventId) => {
      const answer = await client.rawLog('GET /raw-log/stream', { lastEventId, limitMs: headLimitMs })
      return typeof answer === 'string' ? null : await feedIn(answer, name)
    },
  }
}

/** The feed of the gateway at an address, with the admin token if there is one. */
export function addressPlace(url: string, adminToken: string | null): FeedPlace {
  const name = url.replace(/\/+$/, '').replace(/\/v1$/, '')
  return {
    name,
    open: async (lastEventId) => {
      const answer = await requestFeed(`${name}/v1/raw-log/stream`, {
        accept: 'text/event-stream',
        ...(adminToken === null ? {} : { 'x-tokenweir-admin-token': adminToken }),
        ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      })
      return answer === null ? null : await feedIn(answer, name)
    },
  }
}

/** Null if nobody answers. */
async function requestFeed(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage | null> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), headLimitMs)
  const open = url.startsWith('https:') ? requestHttps : requestHttp
  try {
    const request = open(url, { headers, agent: false, signal: limit.signal })
    // What breaks off once the answer has begun is the answer's own error, too.
    request.on('error', () => {}).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return answer
  } catch (error) {
    if (absentCodes.has(codeOf(error))) return null
    throw new Error(`${url} cannot be asked: ${messageOf(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

const absentCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
  'ABORT_ERR',
])

async function feedIn(answer: IncomingMessage, name: string): Promise<Readable> {
  const { statusCode = 0, headers } = answer
  if (statusCode === 200 && headers['content-type']?.startsWith('text/event-stream') === true) return answer
  if (statusCode === 404 || statusCode === 200) {
    answer.destroy()
    throw new Error(`what answers on ${name} has no feed of payloads: no tokenweir gateway, or an older one`)
  }
  throw new Error(`the gateway on ${name} refuses (${statusCode}): ${refusalIn(await text(answer)).message}`)
}
