import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, systemClock } from '../call/clock.ts'
import { ApiError } from './api-error.ts'
import { completionAnswer } from './completion-answer.ts'
import { planCompletion } from './completion-plan.ts'
import { type CompletionRequest, readCompletionRequest } from './completion-request.ts'
import { embeddingAnswer, type EmbeddingRequest, readEmbeddingRequest } from './embedding-answer.ts'
import { type Random, drawFrom } from './random.ts'
import { type Fields, parseFields } from './request-fields.ts'
import { type FaultShares, type SimulatedFault, drawFault, ordinaryFaults } from './simulated-fault.ts'
import { simulatedModels } from './simulated-models.ts'

export interface DemoUpstreamOptions {
  /** The machine's, unless told. */
  readonly clock?: Clock
  readonly random?: Random
  /** What befalls the demo's own traffic; {@link ordinaryFaults} unless told. */
  readonly faults?: FaultShares
}

/** An API in OpenAI's manner without any model behind it. */
export interface DemoUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string
  /** Breaks off what is being answered; nothing runs on afterwards. */
  close(): Promise<void>
}

/**
 * On every answer, so that none is taken for a real one. A request that carries it belongs to the demo's own
 * traffic: only such meet {@link FaultShares | faults}, and whoever tries the demo by hand meets none.
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
  const server = createServer((request, response) => {
    const left = new AbortController()
    response.once('close', () => left.abort())
    serial += 1
    void answer({ clock, random, faults, request, response, serial, left: left.signal })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { baseUrl: `http://127.0.0.1:${port}/v1`, close, [Symbol.asyncDispose]: close }
}

/** A request, and what its answer goes by. */
interface Visit extends Required<DemoUpstreamOptions> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Counts the requests. */
  readonly serial: number
  /** Aborted when the client leaves, which ends the answer at once. */
  readonly left: AbortSignal
}

async function answer(visit: Visit): Promise<void> {
  const { request, response, serial, left } = visit
  response.setHeader(simulatedHeader, 'true')
  response.setHeader('x-request-id', `req_simulated_${serial}`)
  try {
    await route(visit, await readBody(request))
  } catch (error) {
    if (left.aborted || response.destroyed) return
    if (response.headersSent) response.destroy()
    else if (error instanceof ApiError) refuse(response, error)
    else
      refuse(response, new ApiError(500, `The simulation failed: ${String(error)}`, { type: 'server_error' }))
  }
}

async function route(visit: Visit, body: string): Promise<void> {
  const { request, response } = visit
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const models = simulatedModels.map(({ id }) => card(id))
  if (path === '/v1/models') return sendJson(response, { object: 'list', data: models })
  const model = models.find(({ id }) => path === `/v1/models/${id}`)
  if (model !== undefined) return sendJson(response, model)
  const post = posts[path]
  if (post === undefined) {
    const message = `The simulated upstream has no ${request.method} ${path}.`
    throw new ApiError(404, message, { code: 'not_found' })
  }
  if (request.method !== 'POST') throw new ApiError(405, `${path} takes POST alone.`)
  await post(visit, parseFields(body))
}

const posts: Readonly<Record<string, (visit: Visit, fields: Fields) => Promise<void>>> = {
  '/v1/chat/completions': (visit, fields) => complete(visit, readCompletionRequest('chat', fields)),
  '/v1/completions': (visit, fields) => complete(visit, readCompletionRequest('text', fields)),
  '/v1/embeddings': (visit, fields) => embed(visit, readEmbeddingRequest(fields)),
}

async function complete(visit: Visit, request: CompletionRequest): Promise<void> {
  const { clock, random, response, left } = visit
  const startedMs = clock.now()
  const fault = faultOf(visit)
  const plan = planCompletion(request, fault, random)
  const { whole, opening, token, ending } = completionAnswer(
    request,
    plan,
    visit.serial,
    Math.floor(clock.wallTime() / 1000),
  )
  const until = (atMs: number): Promise<void> => pause(visit, startedMs + atMs - clock.now())

  await until(plan.firstMs)
  refuseFor(fault)
  if (!request.stream) {
    await until(plan.endMs)
    return sendJson(response, whole, plan.breaksAfter !== null)
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  for (const event of opening) await sendEvent(response, event, left)
  for (const [i, planned] of plan.tokens.entries()) {
    await until(planned.atMs)
    // What was written before leaves first.
    if (i === plan.breaksAfter) return response.socket?.destroySoon()
    await sendEvent(response, token(planned), left)
  }
  for (const event of ending) await sendEvent(response, event, left)
  response.end('data: [DONE]\n\n')
}

async function embed(visit: Visit, request: EmbeddingRequest): Promise<void> {
  const fault = faultOf(visit)
  const { firstTokenMs, perInputMs } = request.model
  await pause(visit, drawFrom(visit.random, firstTokenMs) + perInputMs * request.inputs.length)
  refuseFor(fault)
  sendJson(visit.response, embeddingAnswer(request), fault === 'broken')
}

function faultOf({ request, random, faults }: Visit): SimulatedFault | null {
  return request.headers[simulatedHeader] === undefined ? null : drawFault(random, faults)
}

/** Rejects when the client leaves. A pause that is over already costs no timer. */
async function pause({ clock, left }: Visit, ms: number): Promise<void> {
  if (ms > 0) await clock.delay(ms, left)
}

/** Throws the answer to a call that is to fail before it is answered. */
function refuseFor(fault: SimulatedFault | null): void {
  if (fault === 'rate_limited') {
    const details = { type: 'requests', code: 'rate_limit_exceeded' }
    throw new ApiError(429, 'Simulated: too many requests, try again soon.', details, 2)
  }
  if (fault === 'server_error') {
    throw new ApiError(500, 'Simulated: the server had an error.', { type: 'server_error' })
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // What is too much is read all the same: to stop reading would break the connection before the answer.
    if (bytes <= mostBodyBytes) chunks.push(chunk)
  }
  if (bytes > mostBodyBytes) throw new ApiError(413, `A body may have ${mostBodyBytes} bytes at most.`)
  return Buffer.concat(chunks).toString()
}

function refuse(response: ServerResponse, error: ApiError): void {
  if (error.retryAfterS !== null) response.setHeader('retry-after', error.retryAfterS)
  response.statusCode = error.status
  sendJson(response, error.body)
}

/** With `broken`, the connection ends in the middle of the body. */
function sendJson(response: ServerResponse, value: unknown, broken = false): void {
  const body = Buffer.from(JSON.stringify(value))
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', body.length)
  if (broken) response.write(body.subarray(0, body.length / 2), () => response.destroy())
  else response.end(body)
}

/** Waits if the client reads slowly. */
async function sendEvent(response: ServerResponse, value: object, left: AbortSignal): Promise<void> {
  if (!response.write(`data: ${JSON.stringify(value)}\n\n`)) await once(response, 'drain', { signal: left })
}

function card(id: string): { readonly id: string } {
  const rest = { object: 'model', created: 0, owned_by: 'simulated' }
  return { id, ...rest }
}
