import { createServer } from 'node:net'
import { Condition } from './condition.ts'
import type { Reply, ReplyScript, ReplyStep } from './reply-step.ts'
import type { ConnectionEnd, SeenConnection, SeenRequest } from './seen-request.ts'
import { type SimulatedModel, answerAsOpenAi, defaultModel } from './simulated-model.ts'
import { UpstreamConnection } from './upstream-connection.ts'

export interface SimulatedUpstreamOptions {
  /** Scripts by request; `undefined` leaves the request to the simulated model. Called when the head is there. */
  readonly reply?: (request: SeenRequest) => ReplyScript | undefined
  /** Differences from {@link defaultModel}. */
  readonly model?: Partial<SimulatedModel>
}

/** An OpenAI-compatible server on a loopback port that does what the test says and remembers what it saw. */
export interface SimulatedUpstream extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** The origin and `/v1`: what a client library is given. */
  readonly baseUrl: string
  /** In order of arrival, over all connections. */
  readonly requests: readonly SeenRequest[]
  readonly connections: readonly SeenConnection[]
  /** Why clients were answered 400 for what is no HTTP. */
  readonly brokenRequests: readonly string[]
  /** Requests whose head has arrived and whose answer has not ended. */
  readonly inFlight: number
  readonly peakInFlight: number
  /** The next requests that have no other script get these, one each; they go before `options.reply`. */
  replyOnce(...scripts: readonly ReplyScript[]): void
  /** Ends every connection on which no request waits, as a server does whose keep-alive time is over. */
  closeIdleConnections(how?: ConnectionEnd['how']): void
  /** The request with this index, once its head is there. */
  waitForRequest(index: number): Promise<SeenRequest>
  waitForInFlight(count: number): Promise<void>
  /** Any state that can be seen here, looked at on every change. */
  waitFor(what: string, holds: () => boolean, limitMs?: number): Promise<void>
  close(): Promise<void>
}

/** `await using upstream = await startSimulatedUpstream()` */
export async function startSimulatedUpstream(
  options: SimulatedUpstreamOptions = {},
): Promise<SimulatedUpstream> {
  const requests: SeenRequest[] = []
  const connections: UpstreamConnection[] = []
  const brokenRequests: string[] = []
  const once: ReplyScript[] = []
  const condition = new Condition()
  let inFlight = 0
  let peakInFlight = 0

  const host = {
    nextIndex: () => requests.length,
    requested: (request: SeenRequest): Reply => {
      requests.push(request)
      inFlight += 1
      peakInFlight = Math.max(peakInFlight, inFlight)
      const script = once.shift() ?? options.reply?.(request)
      if (script !== undefined) return 'steps' in script ? script : { steps: script }
      // Read late: the model's answer depends on the body, which is not there yet.
      return { steps: modelSteps({ ...defaultModel, ...options.model }, request) }
    },
    replied: () => {
      inFlight -= 1
      condition.changed()
    },
    changed: () => condition.changed(),
    broken: (reason: string) => {
      brokenRequests.push(reason)
      condition.changed()
    },
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.push(new UpstreamConnection(connections.length, socket, host))
    condition.changed()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', 4096, () => resolve())
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const { port } = address

  const close = async (): Promise<void> => {
    condition.close('the simulated upstream was closed')
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    for (const connection of connections) connection.destroy()
    await closed
  }

  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    connections,
    brokenRequests,
    get inFlight() {
      return inFlight
    },
    get peakInFlight() {
      return peakInFlight
    },
    replyOnce: (...scripts) => {
      once.push(...scripts)
    },
    closeIdleConnections: (how = 'fin') => {
      for (const connection of connections) if (connection.idle) connection.close(how)
    },
    waitForRequest: (index) => condition.until(() => requests[index], `request ${index} at the upstream`),
    waitForInFlight: async (count) => {
      await condition.until(
        () => inFlight === count || undefined,
        `${count} requests in flight at the upstream`,
      )
    },
    waitFor: async (what, holds, limitMs) => {
      await condition.until(() => holds() || undefined, what, limitMs)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function* modelSteps(model: SimulatedModel, request: SeenRequest): Generator<ReplyStep> {
  yield* answerAsOpenAi(model, request)
}
