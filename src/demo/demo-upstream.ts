import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../call/clock.ts'
import { type LoopbackServer, createServer, listenOnLoopback, readAtMost } from '../lib/http/http.ts'
import { type SimulatedAnswer, completionAnswer } from './completion-answer.ts'
import { planCompletion } from './completion-plan.ts'
import { type CompletionRequest, readCompletionRequest } from './completion-request.ts'
import { embeddingAnswer } from './embedding-answer.ts'
import { type Random, between } from './random.ts'
import type { Fields } from '../lib/message-shape.ts'
import { ApiError, parseFields } from './request-fields.ts'
import { type FaultShares, type SimulatedFault, drawFault, ordinaryFaults } from './simulated-fault.ts'
import { SimulatedLimits } from './simulated-limits.ts'
import { modelIds } from './simulated-models.ts'
import { reportFault } from '../lib/fault.ts'

/** The options of the demo's upstream. */
export interface DemoUpstreamOptions {
  /** The clock (default: the machine's). */
  readonly clock?: Clock
  readonly random?: Random
  /** The faults of the demo's own traffic (default: {@link ordinaryFaults}). */
  readonly faults?: FaultShares
}

/** A simulated API in OpenAI's form, without a model. `baseUrl` is `http://127.0.0.1:<port>/v1`. */
export type DemoUpstream = LoopbackServer & { readonly baseUrl: string }

/**
 * A header that marks answers as simulated. In a request it marks the demo's own traffic. Only such requests
 * get {@link FaultShares | faults}; a person who tries the demo gets none.
 */
export const simulatedHeader = 'x-simulated'

const mostBodyBytes = 32_000_000

/** Listens on a free port of the loopback interface. */
export async function startDemoUpstream({
  clock = systemClock,
  random = Math.random,
  faults = ordinaryFaults,
}: DemoUpstreamOptions = {}): Promise<DemoUpstream> {
  let serial = 0
  const limits = new SimulatedLimits()
  const server = createServer({}, (request, response) => {
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    serial += 1
    const fault = simulatedHeader in request.headers ? drawFault(random, faults) : null
    answer({ clock, random, fault, limits, request, response, serial, signal: leaving.signal }).catch(
      reportFault,
    )
  })
  const listening = await listenOnLoopback(server)
  return { ...listening, baseUrl: `${listening.origin}/v1` }
}

/** A request, and the facts for its answer. */
interface DemoSession {
  readonly clock: Clock
  readonly random: Random
  readonly fault: SimulatedFault | null
  readonly limits: SimulatedLimits
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The number of the request. */
  readonly serial: number
  /** Aborted when the client leaves, which ends the answer at once. */
  readonly signal: AbortSignal
}

async function answer(session: DemoSession): Promise<void> {
  const { request, response, serial, signal } = session
  response.setHeader(simulatedHeader, 'true')
  response.setHeader('x-request-id', `req_simulated_${serial}`)
  try {
    await route(session, await readBody(request))
  } catch (error) {
    if (signal.aborted || response.destroyed) return
    if (response.headersSent) response.destroy()
    else refuse(response, error)
  }
}

async function route(session: DemoSession, body: string): Promise<void> {
  const { request, response } = session
  const path = (request.url ?? '').replace(/\?.*/, '')
  const post = posts[path]
  if (post !== undefined) {
    if (request.method !== 'POST') throw new ApiError(405, `${path} takes POST alone.`)
    return streamEvents(session, post(parseFields(body), session))
  }
  const models = modelIds.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulated' }))
  const model = models.find(({ id }) => path === `/v1/models/${id}`)
  if (path === '/v1/models') sendJson(response, { object: 'list', data: models })
  else if (model !== undefined) sendJson(response, model)
  else {
    const message = `The simulated upstream has no ${request.method} ${path}.`
    throw new ApiError(404, message, { code: 'not_found' })
  }
}

/** The answers by path: content and times. Each throws {@link ApiError}. */
const posts: Readonly<Record<string, (fields: Fields, session: DemoSession) => SimulatedAnswer>> = {
  '/v1/chat/completions': (fields, session) => complete(readCompletionRequest('chat', fields), session),
  '/v1/completions': (fields, session) => complete(readCompletionRequest('text', fields), session),
  '/v1/embeddings': (fields, { random }) => embeddingAnswer(fields, random),
}

function complete(request: CompletionRequest, session: DemoSession): SimulatedAnswer {
  const { clock, random, fault, limits, response, serial } = session
  const plan = planCompletion(request, fault, random)
  const tokens = request.promptTokens + plan.tokens.length
  for (const [name, value] of Object.entries(limits.take(request.model, tokens, clock.now())))
    response.setHeader(name, value)
  return completionAnswer(request, plan, serial, Math.floor(clock.wallTime() / 1000))
}

/** Sends the events at their times. Rejects if the client leaves, or if the call is planned to fail. */
async function streamEvents(
  session: DemoSession,
  { beginsMs, endsMs, body, events }: SimulatedAnswer,
): Promise<void> {
  const { clock, random, fault, response, signal } = session
  const startedMs = clock.now()
  const until = async (atMs: number): Promise<void> => {
    const ms = startedMs + atMs - clock.now()
    // No timer for a pause that is already over.
    if (ms > 0) await clock.delay(ms, signal)
  }
  await until(beginsMs)
  const isBroken = fault === 'broken'
  if (fault === 'server_error') throw new ApiError(500, 'Simulated: the server had an error.', serverError)
  if (fault === 'rate_limited')
    throw new ApiError(429, 'Simulated: too many requests, try again soon.', tooMany)
  if (events === null) {
    await until(endsMs)
    return sendJson(response, body, isBroken)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const sentEvents = isBroken ? events.slice(0, events.length * between(random, 0.25, 0.75)) : events
  for (const { atMs, data } of sentEvents) {
    await until(atMs)
    const isTaken = response.write(`data: ${JSON.stringify(data)}\n\n`)
    if (!isTaken) await once(response, 'drain', { signal })
  }
  // Earlier writes are sent first.
  if (isBroken) response.socket?.destroySoon()
  else response.end('data: [DONE]\n\n')
}

const serverError = { type: 'server_error' }
const tooMany = { type: 'requests', code: 'rate_limit_exceeded' }

async function readBody(request: IncomingMessage): Promise<string> {
  // Destroying the request would destroy the connection before the answer.
  const body = await readAtMost(mostBodyBytes, request.iterator({ destroyOnReturn: false }))
  if (body !== null) return body
  request.resume()
  throw new ApiError(413, `A body may have ${mostBodyBytes} bytes at most.`)
}

function refuse(response: ServerResponse, error: unknown): void {
  const failure = { status: 500, message: `The simulation failed: ${String(error)}`, details: serverError }
  const { status, message, details } = error instanceof ApiError ? error : failure
  response.statusCode = status
  if (status === 429) response.setHeader('retry-after', 2)
  const fields = { message, type: 'invalid_request_error', param: null, code: null, ...details }
  sendJson(response, { error: fields })
}

/** Sends JSON. With `broken`, the connection ends in the middle of the body. */
function sendJson(response: ServerResponse, value: unknown, broken = false): void {
  const body = Buffer.from(JSON.stringify(value))
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', body.length)
  if (broken) response.write(body.subarray(0, body.length / 2), () => response.destroy())
  else response.end(body)
}
