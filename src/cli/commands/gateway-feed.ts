import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ControlClient } from '../../control/control-client.ts'
import { refusalIn } from '../../control/control-messages.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { request as requestHttp } from '../../lib/http/http.ts'
import { socketName } from '../../control/control-socket.ts'
import { noGatewayAnswers } from '../exit-code.ts'

/** Time limit for the head of the answer. */
const headLimitMs = 10_000

/** A possible source of a gateway's payload feed. */
export interface FeedPlace {
  /** The name in messages. */
  readonly name: string
  /** Asks for the feed; null if no gateway answers. */
  readonly ask: () => Promise<IncomingMessage | null>
}

/** The feed of the first place that answers. From then on only this place is used, even while it is away. */
export function gatewayFeed(places: readonly FeedPlace[]): {
  /** The source in use, once one has answered. */
  readonly name: () => string
  /** Opens the feed; null if the known place is away. Rejects with a `CommandError` if no place has answered yet. */
  readonly open: () => Promise<Readable | null>
} {
  let source: FeedPlace | null = null
  return {
    name: () => source?.name ?? '',
    open: async () => {
      // The place that had the feed may have it again later, so its present error is ignored.
      if (source !== null) return feedOf(source).catch(() => null)
      for (const candidate of places) {
        const stream = await feedOf(candidate)
        if (stream === null) continue
        source = candidate
        return stream
      }
      const names = places.map(({ name }) => name).join(' or ')
      const advice = 'start one with "tokenweir gateway", or give its address with --url'
      throw noGatewayAnswers(`on ${names}`, advice)
    },
  }
}

/** The feed of a place; null if nothing answers. Rejects with a readable message if the answer is a refusal. */
async function feedOf({ name, ask }: FeedPlace): Promise<Readable | null> {
  const answer = await ask()
  if (answer === null) return null
  const { statusCode = 0, headers } = answer
  if (statusCode === 200 && headers['content-type']?.startsWith('text/event-stream') === true) return answer
  if (statusCode === 404 || statusCode === 200) {
    answer.destroy()
    throw new Error(`${name} has no payload feed: it is not a tokenweir gateway, or an older one`)
  }
  throw new Error(`the gateway on ${name} refuses (${statusCode}): ${refusalIn(await text(answer)).message}`)
}

/** The gateway of a data folder, over its control socket, which needs no token. */
export function socketPlace(folder: string): FeedPlace {
  const client = new ControlClient(folder)
  return {
    name: join(folder, socketName),
    ask: async () => {
      const answer = await client.rawLog('GET /raw-log/stream', { limitMs: headLimitMs })
      return typeof answer === 'string' ? null : answer
    },
  }
}

/** The gateway at an address, with the admin token if there is one. */
export function addressPlace(url: string, adminToken: string | null): FeedPlace {
  const name = url.replace(/\/+$/, '').replace(/\/v1$/, '')
  const request = name.startsWith('https:') ? requestHttps : requestHttp
  return {
    name,
    ask: async () => {
      const headers = {
        accept: 'text/event-stream',
        ...(adminToken === null ? {} : { 'x-tokenweir-admin-token': adminToken }),
      }
      const feedRequest = request(`${name}/v1/raw-log/stream`, { headers, agent: false })
      // After the answer has begun, an error is also reported on the answer.
      feedRequest.on('error', () => {}).end()
      try {
        const [answer] = await once(feedRequest, 'response', { signal: AbortSignal.timeout(headLimitMs) })
        return answer as IncomingMessage
      } catch (error) {
        feedRequest.destroy()
        if (absent.test(String(codeOf(error)))) return null
        throw new Error(`could not reach ${name}: ${messageOf(error)}`, { cause: error })
      }
    },
  }
}

const absent = /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|ABORT_ERR)$/
