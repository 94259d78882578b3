import { systemClock } from '../call/clock.ts'
import { maxHeaderBytes } from '../gateway/http/listen.ts'
import { parseUpstreamBase } from '../gateway/http/target.ts'
import { requestModels } from '../gateway/routing/model-list-request.ts'
import { failureOf } from '../gateway/upstream/undici-failure.ts'
import { UndiciTransport } from '../gateway/upstream/undici-transport.ts'
import { type UpstreamProxy, proxyFor } from '../gateway/upstream/upstream-proxy.ts'
import { codeOf } from '../lib/errors.ts'
import { isObject, readMessage } from '../lib/message-shape.ts'
import type { Environment } from './parse-options.ts'

/** An upstream, and the settings of a request for its models. */
export interface ModelRequest {
  readonly url: string
  /** Name and value of the header with the key; empty without a key. */
  readonly keyHeader: readonly string[]
  readonly connectTimeoutMs: number
  /** Time limit for the whole list. */
  readonly limitMs: number
}

/** The response to a request for models. */
export interface ModelResponse {
  /** The proxy that the request went through; null without one. */
  readonly proxy: UpstreamProxy | null
  /** The status; 0 without a response. */
  readonly status: number
  /** Headers: name, value, name, value … */
  readonly headers: readonly string[]
  /** The names of the models; null if the response lists none. */
  readonly names: readonly string[] | null
  /** Why there is no complete response; null if there is one. */
  readonly failure: { readonly message: string; readonly code: unknown } | null
  readonly tookMs: number
}

const mostBytes = 4 * 1024 ** 2

/**
 * Asks an upstream for its models, over the same proxy as calls. Rejects only if the variable of a proxy has
 * a wrong value.
 */
export async function listModels(
  { url, keyHeader, connectTimeoutMs, limitMs }: ModelRequest,
  env: Environment,
): Promise<ModelResponse> {
  const base = parseUpstreamBase(url)
  const proxy = proxyFor(base.origin, env)
  const times = { firstByteTimeoutMs: limitMs, idleTimeoutMs: limitMs, connectRetryMs: 0 }
  const transport = new UndiciTransport(base.origin, { ...times, connectTimeoutMs, maxHeaderBytes, proxy })
  const headers = ['Accept', 'application/json', 'Accept-Encoding', 'identity', ...keyHeader]
  const sentMs = performance.now()
  const request = { transport, base, headers, query: '', clock: systemClock, limitMs, mostBytes }
  const { status, headers: sent, body, error } = await requestModels(request)
  await transport.close()
  const progress = { started: false, answered: status > 0, reusedSocket: false, maxHeaderBytes: 0 }
  return {
    proxy,
    status,
    headers: sent,
    names: status < 300 ? namesIn(body) : null,
    failure: error === null ? null : { message: failureOf(error, progress).message, code: codeOf(error) },
    tookMs: performance.now() - sentMs,
  }
}

function namesIn(body: Buffer): readonly string[] | null {
  const models = readMessage(body.toString(), isObject)?.['data']
  if (!Array.isArray(models)) return null
  return (models as readonly unknown[]).map((model) => (isObject(model) ? String(model['id']) : '?'))
}
