import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { type Clock, systemClock } from '../call/clock.ts'
import { ApiError } from './api-error.ts'
import { CompletionAnswer } from './completion-answer.ts'
import { planCompletion } from './completion-plan.ts'
import { type CompletionRequest, readCompletionRequest } from './completion-request.ts'
import { embeddingAnswer, readEmbeddingRequest } from './embedding-answer.ts'
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
export async function startDemoUpstream(options: DemoUpstreamOptions = {}): Promise<DemoUpstream> {
  const api = new SimulatedApi(options)
  const server = createServer((request, response) => {
    void api.answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the demo upstream has no TCP address')
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { baseUrl: `http://127.0.0.1:${address.port}/v1`, close, [Symbol.asyncDispose]: close }
}

/** Answers requests one by one; each ends at once when its client leaves. */
class SimulatedApi {
  readonly #clock: Clock
  readonly #random: Random
  readonly #faults: FaultShares
  #answers = 0

  constructor({ clock = systemClock, random = Math.random, faults = ordinaryFaults }: DemoUpstreamOptions) {
    this.#clock = clock
    this.#random = random
    this.#faults = faults
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController()
    response.once('close', () => left.abort())
    this.#answers += 1
    response.setHeader(simulatedHeader, 'true')
    response.setHeader('x-request-id', `req_simulated_${this.#answers}`)
    try {
      await this.#route(request, response, left.signal)
    } catch (error) {
      if (left.signal.aborted || response.destroyed) return
      if (response.headersSent) response.destroy()
      else if (error instanceof ApiError) refuse(response, error)
      else
        refuse(
          response,
          new ApiError(500, `The simulation failed: ${String(error)}`, { type: 'server_error' }),
        )
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, left: AbortSignal): Promise<void> {
    const body = await readBody(request)
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const post = (answer: (fields: Fields, fault: SimulatedFault | null) => Promise<void>): Promise<void> => {
      if (request.method !== 'POST') throw new ApiError(405, `${path} takes POST alone.`)
      return answer(parseFields(body), this.#fault(request))
    }
    switch (path) {
      case '/v1/models':
        return sendJson(response, { object: 'list', data: simulatedModels.map(({ id }) => card(id)) })
      case '/v1/chat/completions':
        return post((fields, fault) =>
          this.#complete(readCompletionRequest('chat', fields), fault, response, left),
        )
      case '/v1/completions':
        return post((fields, fault) =>
          this.#complete(readCompletionRequest('text', fields), fault, response, left),
        )
      case '/v1/embeddings':
        return post((fields, fault) => this.#embed(fields, fault, response, left))
      default: {
        const model = simulatedModels.find(({ id }) => path === `/v1/models/${id}`)
        if (model !== undefined) return sendJson(response, card(model.id))
        throw new ApiError(404, `The simulated upstream has no ${request.method} ${path}.`, {
          code: 'not_found',
        })
      }
    }
  }

  async #complete(
    request: CompletionRequest,
    fault: SimulatedFault | null,
    response: ServerResponse,
    left: AbortSignal,
  ): Promise<void> {
    const startedMs = this.#clock.now()
    const plan = planCompletion(request, fault, this.#random)
    const answer = new CompletionAnswer(
      request,
      plan,
      this.#answers,
      Math.floor(this.#clock.wallTime() / 1000),
    )
    const until = (atMs: number): Promise<void> => this.#pause(startedMs + atMs - this.#clock.now(), left)

    await until(plan.firstMs)
    refuseFor(fault)
    if (!request.stream) {
      await until(plan.endMs)
      return sendJson(response, answer.whole(), plan.breaksAfter !== null)
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    })
    await sendEvent(response, answer.opening(), left)
    for (const [i, token] of plan.tokens.entries()) {
      await until(token.atMs)
      if (i === plan.breaksAfter) return void response.destroy()
      await sendEvent(response, answer.token(token), left)
    }
    await sendEvent(response, answer.finish(), left)
    await sendEvent(response, answer.usage(), left)
    response.end('data: [DONE]\n\n')
  }

  async #embed(
    fields: Fields,
    fault: SimulatedFault | null,
    response: ServerResponse,
    left: AbortSignal,
  ): Promise<void> {
    const request = readEmbeddingRequest(fields)
    const { firstTokenMs, perInputMs } = request.model
    await this.#pause(drawFrom(this.#random, firstTokenMs) + perInputMs * request.inputs.length, left)
    refuseFor(fault)
    return sendJson(response, embeddingAnswer(request), fault === 'broken')
  }

  #fault(request: IncomingMessage): SimulatedFault | null {
    return request.headers[simulatedHeader] === undefined ? null : drawFault(this.#random, this.#faults)
  }

  /** Rejects when the client leaves. A pause that is over already costs no timer. */
  async #pause(ms: number, left: AbortSignal): Promise<void> {
    if (ms > 0) await this.#clock.delay(ms, left)
  }
}

/** Throws the answer to a call that is to fail before it is answered. */
function refuseFor(fault: SimulatedFault | null): void {
  if (fault === 'rate_limited') {
    const details = { type: 'requests', code: 'rate_limit_exceeded', retryAfterS: 2 }
    throw new ApiError(429, 'Simulated: too many requests, try again soon.', details)
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

/** Waits where the client reads slowly. Null is no event. */
async function sendEvent(response: ServerResponse, value: unknown, left: AbortSignal): Promise<void> {
  if (value === null) return
  if (!response.write(`data: ${JSON.stringify(value)}\n\n`)) await once(response, 'drain', { signal: left })
}

function card(id: string): unknown {
  return { id, object: 'model', created: 0, owned_by: 'simulated' }
}
