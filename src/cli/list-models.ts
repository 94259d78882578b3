import { maxHeaderBytes } from '../gateway/http/listen.ts'
import { parseTarget, parseUpstreamBase, upstreamPath } from '../gateway/http/target.ts'
import { modelListRequest } from '../gateway/routing/model-list-request.ts'
import { UndiciTransport } from '../gateway/upstream/undici-transport.ts'
import type { UpstreamProxy } from '../gateway/upstream/upstream-proxy.ts'
import { type Whole, BufferedResponse } from '../gateway/upstream/buffered-response.ts'
import { isObject, readMessage } from '../lib/message-shape.ts'

/** An upstream, and the settings of a request for its models. */
export interface AskedForModels {
  readonly url: string
  /** The header with its key, or nothing. */
  readonly keyHeader: readonly string[]
  readonly proxy: UpstreamProxy | null
  readonly connectTimeoutMs: number
  /** Time limit for the whole list. */
  readonly limitMs: number
}

const mostBytes = 4 * 1024 ** 2

/** Asks an upstream for its models, on the way that calls take. Never rejects. */
export async function listModels(asked: AskedForModels): Promise<Whole> {
  const { url, keyHeader, proxy, connectTimeoutMs, limitMs } = asked
  const base = parseUpstreamBase(url)
  const times = { firstByteTimeoutMs: limitMs, idleTimeoutMs: limitMs, connectRetryMs: 0 }
  const upstream = new UndiciTransport(base.origin, { ...times, connectTimeoutMs, maxHeaderBytes, proxy })
  const answer = new BufferedResponse(mostBytes)
  const plain = ['Accept', 'application/json', 'Accept-Encoding', 'identity', ...keyHeader]
  const { headers, query } = modelListRequest(plain, '')
  const tooLate = setTimeout(() => answer.abort(new Error('it did not respond in time')), limitMs)
  upstream.send(
    {
      method: 'GET',
      path: upstreamPath(base, parseTarget(`/v1/models${query}`)),
      headers,
      body: null,
      bodyBytes: 0,
      freshConnection: false,
    },
    answer,
  )
  const whole = await answer.whole
  clearTimeout(tooLate)
  await upstream.close()
  return whole
}

/** The names of the models in an answer; null if it lists none. */
export function namesIn({ status, body }: Pick<Whole, 'status' | 'body'>): readonly string[] | null {
  const listed = readMessage(body.toString(), isObject)?.['data']
  if (status >= 300 || !Array.isArray(listed)) return null
  return (listed as readonly unknown[]).map((one) => (isObject(one) ? String(one['id']) : '?'))
}
