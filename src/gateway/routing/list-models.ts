import type { RawHeaders } from '../../call/call-observer.ts'
import { isObject } from '../../lib/message-shape.ts'
import type { CallUpstream } from '../call/call-upstream.ts'
import type { RunningCall } from '../call/running-call.ts'
import type { AttemptsOptions } from '../call/attempts.ts'
import { WholeAnswer } from '../upstream/whole-answer.ts'
import { upstreamPath } from '../http/target.ts'
import { modelListRequest } from './model-list-request.ts'

/** An upstream that has not told its models by then is left out. */
const patienceMs = 2000
/** A longer list is none. */
const longestListBytes = 16 * 1024 * 1024

export interface ListedUpstreams {
  readonly upstreams: readonly CallUpstream[]
  /** Where calls of a model go: it is listed as that one has it. */
  readonly ofModel: (model: string) => CallUpstream
}

/**
 * Answers a call for the list of models with those of all upstreams, each as its upstream has it, as long as a call of its name
 * goes there. False, and nothing is answered, if none of them told any.
 */
export async function listModels(
  running: RunningCall,
  { upstreams, ofModel }: ListedUpstreams,
  { trusted, via }: AttemptsOptions,
): Promise<boolean> {
  const { client, clock, timeline, arrived } = running
  const isTrusted = await trusted.include(arrived.head, arrived.req.socket)
  timeline.attempt(clock.now())
  const asked = upstreams.map(async (upstream) => {
    const models = await askedModels(running, upstream, isTrusted, via)
    return { upstream, models }
  })
  const told = await Promise.all(asked)
  if (client.over !== null) throw client.over
  if (told.every(({ models }) => models === null)) {
    timeline.attempts = 0
    timeline.attemptLost()
    return false
  }
  const missing = told
    .filter(({ models }) => models === null)
    .map(({ upstream }) => upstream.name ?? 'default')
  const listed = new Map<string, unknown>()
  for (const { upstream, models } of told) {
    for (const { id, entry } of models ?? []) {
      if (ofModel(id) === upstream && !listed.has(id)) listed.set(id, entry)
    }
  }
  const body = Buffer.from(JSON.stringify({ object: 'list', data: [...listed.values()] }))
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
  /** As its upstream has it. */
  readonly entry: unknown
}

/** Null if the upstream does not tell. */
async function askedModels(
  running: RunningCall,
  { destination: first, replicas }: CallUpstream,
  isTrusted: boolean,
  via: RawHeaders,
): Promise<readonly ListedModel[] | null> {
  using replica = replicas?.take(null, new Set()) ?? null
  const destination = replica?.destination ?? first
  const { head, target } = running.arrived
  const { withhold, keyHeader, base } = destination
  const isLent = isTrusted && (withhold !== null || head.credential === null)
  const passed = withhold === null ? head.endToEnd : withhold.headers(head.endToEnd)
  const asked = [
    ...passed.filter((_, at) => passed[at - (at % 2)]?.toLowerCase() !== 'accept-encoding'),
    'accept-encoding',
    'identity',
    ...(isLent ? keyHeader : []),
    ...via,
  ]
  const { headers, query } = modelListRequest(
    asked,
    withhold === null ? target.query : withhold.query(target.query),
  )
  const answer = new WholeAnswer(longestListBytes)
  const path = upstreamPath(base, { path: '/v1/models', query })
  const request = { method: 'GET', path, headers, body: null, bodyBytes: 0, freshConnection: false }
  const cancel = running.clock.after(patienceMs, () => answer.abort(new Error('too late')))
  destination.upstream.send(request, answer)
  const { status, body, error } = await answer.whole
  cancel()
  return status === 200 && error === null ? modelsIn(body) : null
}

/** What TypeScript does not know yet of `JSON`. */
const sourceJson = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(source: string): unknown
}

/** Numbers are kept as they are written. */
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
