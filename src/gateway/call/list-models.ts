import type { RawHeaders } from '../../call/response-head.ts'
import { uncoded } from '../../lib/http/header-list.ts'
import { isObject } from '../../lib/message-shape.ts'
import { headersAt, queryWithoutCredentials } from '../routing/credentials.ts'
import { requestModels } from '../routing/model-list-request.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import type { AttemptsOptions } from './attempts.ts'
import type { RunningCall } from './running-call.ts'

/** Time limit for an upstream's list of models, in ms. */
const patienceMs = 2000
/** Most bytes of a list; a longer one is ignored. */
const longestListBytes = 16 * 1024 * 1024

/** True if the call asks for the models of all upstreams. */
export function asksForAllModels(call: RunningCall, upstreams: Upstreams): boolean {
  const { arrived, path, request, upstream } = call
  if (!upstreams.areSeveral || arrived.upstream !== null || upstream !== upstreams.default) return false
  return path.name === '/v1/models' && arrived.req.method === 'GET' && request.isRepeatable
}

/**
 * Answers a call for the list of models with the models of all upstreams. A model is listed as its upstream
 * lists it, and only if calls with its name go there. Resolves with false, without an answer, if no upstream
 * lists any.
 */
export async function listModels(
  running: RunningCall,
  { upstreams, via }: AttemptsOptions,
): Promise<boolean> {
  const { client, clock, timeline } = running
  const isTrusted = await running.isTrusted()
  timeline.attempt(clock.now())
  const requests = Array.from(upstreams.configured(), async (upstream) => {
    const models = await askedModels(running, upstream, isTrusted, via)
    return { upstream, models }
  })
  const answers = await Promise.all(requests)
  if (client.over !== null) throw client.over
  if (answers.every(({ models }) => models === null)) {
    timeline.attempts = 0
    timeline.attemptLost()
    return false
  }
  const missing = answers.filter(({ models }) => models === null).map(({ upstream }) => upstream.name)
  const byModel = new Map<string, unknown>()
  for (const { upstream, models } of answers) {
    for (const { id, entry } of models ?? []) {
      if (upstreams.ofModel(id) === upstream && !byModel.has(id)) byModel.set(id, entry)
    }
  }
  const body = Buffer.from(JSON.stringify({ object: 'list', data: [...byModel.values()] }))
  timeline.answeredAt = clock.now()
  const headers = [
    'content-type',
    'application/json',
    'content-length',
    String(body.length),
    ...(missing.length === 0 ? [] : ['x-tokenweir-upstreams-missing', missing.join(', ')]),
    ...running.addedHeaders(),
  ]
  client.head({ status: 200, statusText: 'OK', headers, contentLength: body.length })
  client.write(body)
  client.end([])
  timeline.attemptOverAt = clock.now()
  return true
}

interface ListedModel {
  readonly id: string
  /** The model as its upstream lists it. */
  readonly entry: unknown
}

/** The models of an upstream; null if it lists none. */
async function askedModels(
  running: RunningCall,
  upstream: Upstream,
  isTrusted: boolean,
  via: RawHeaders,
): Promise<readonly ListedModel[] | null> {
  using replica = upstream.replicas.choose(null)
  const endpoint = replica?.endpoint ?? upstream.endpoint
  const { stripsCredentials, keyHeader, base, transport } = endpoint
  const { head, target } = running.arrived
  const usesGatewayKey = isTrusted && keyHeader.length > 0 && (stripsCredentials || head.credential === null)
  const headers = [...uncoded(headersAt(head, endpoint, usesGatewayKey)), ...via]
  const query = stripsCredentials ? queryWithoutCredentials(target.query) : target.query
  const limits = { limitMs: patienceMs, mostBytes: longestListBytes }
  const { clock } = running
  const { status, body, error } = await requestModels({ transport, base, headers, query, clock, ...limits })
  return status === 200 && error === null ? modelsIn(body) : null
}

/** Members of `JSON` that TypeScript's types lack. */
const sourceJson = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(source: string): unknown
}

/** The models in a list; null if it is none. Numbers keep their spelling. */
function modelsIn(body: Buffer): readonly ListedModel[] | null {
  let list: unknown
  try {
    list = sourceJson.parse(body.toString('utf8'), (_name, value, { source }) =>
      typeof value === 'number' && source !== undefined ? sourceJson.rawJSON(source) : value,
    )
  } catch {
    return null
  }
  const data = isObject(list) ? list['data'] : null
  if (!Array.isArray(data)) return null
  return data.flatMap((entry: unknown) => {
    const id = isObject(entry) ? entry['id'] : null
    return typeof id === 'string' ? [{ id, entry }] : []
  })
}
