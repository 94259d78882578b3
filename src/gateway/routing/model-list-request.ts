import type { Clock } from '../../call/clock.ts'
import type { RawHeaders } from '../../call/response-head.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import { type UpstreamBase, upstreamPath } from '../http/target.ts'
import { BufferedResponse, type ReceivedResponse } from '../upstream/buffered-response.ts'
import type { Transport } from '../upstream/transport.ts'

/** A request for an upstream's list of models. */
export interface ModelListRequest {
  readonly transport: Transport
  readonly base: UpstreamBase
  readonly headers: RawHeaders
  /** The query with its question mark; empty without one. */
  readonly query: string
  readonly clock: Clock
  /** Time limit for the whole list, in ms. */
  readonly limitMs: number
  /** Most bytes of the list. */
  readonly mostBytes: number
}

/** Asks an upstream for its whole list of models. Never rejects. */
export async function requestModels(request: ModelListRequest): Promise<ReceivedResponse> {
  const { transport, base, clock, limitMs, mostBytes } = request
  const { headers, query } = forWholeList(request)
  const response = new BufferedResponse(mostBytes)
  const cancel = clock.after(limitMs, () => response.abort(new Error('it did not respond in time')))
  const path = upstreamPath(base, { path: '/v1/models', query })
  transport.send({ method: 'GET', path, headers, body: null, bodyBytes: 0, freshConnection: false }, response)
  const received = await response.received
  cancel()
  return received
}

/**
 * The query and headers for a whole list of models. Anthropic's API, recognised by the header of its key,
 * requires a version (docs.anthropic.com, Versions) and lists 20 models by default, 1,000 at most (List
 * Models).
 */
function forWholeList({ headers, query }: ModelListRequest): Pick<ModelListRequest, 'headers' | 'query'> {
  if (headerOf(headers, 'x-api-key') === null) return { headers, query }
  const version = headerOf(headers, 'anthropic-version') === null ? ['anthropic-version', '2023-06-01'] : []
  const isBounded = /[?&](?:limit|after_id|before_id)=/.test(query)
  const longest = query.length > 1 ? `${query}&limit=1000` : '?limit=1000'
  return { headers: [...headers, ...version], query: isBounded ? query : longest }
}
