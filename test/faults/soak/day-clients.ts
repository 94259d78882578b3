import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallKind, type PlannedCall, callsPerS, kindAt, modelOf, pathOf, planCall } from './day.ts'
import { answerPieces } from './day-answer.ts'

/** A call as its client saw it: the client's books. */
export interface MadeCall {
  readonly plan: PlannedCall
  readonly begunMs: number
  endedMs: number
  /** `whole` with every byte as planned; `unconnected` where nobody accepted the connection. */
  end: 'running' | 'whole' | 'other bytes' | 'broken' | 'left' | 'unconnected'
  status: number | null
  /** As `x-tokenweir-call-id` names it. */
  id: string | null
  /** Why it broke. */
  why: string
}

/** So many people and programs there are: at a peak they wait for each other. */
const mostOpen = 150
const tickMs = 10
/** One in so many arrivals is an agent that makes several calls, one after the other. */
const agentEvery = 12
const turns = { fewest: 3, more: 6 } as const

/** All clients of a day. */
export class DayClients {
  /** By their numbers. */
  readonly calls: MadeCall[] = []
  /** Told that the gateway is down, clients wait. */
  isPaused = false
  readonly #port: number
  readonly #random: () => number
  readonly #agent = new Agent({ keepAlive: true })
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #pacer: Promise<void> | undefined
  #arrivals = 0

  constructor(port: number, random: () => number) {
    this.#port = port
    this.#random = random
  }

  /** `hour` says what time of the day it is. */
  start(hour: () => number): void {
    this.#pacer = this.#pace(hour)
  }

  get open(): number {
    return this.#running.size
  }

  /** No new calls; waits for those under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#pacer
    await Promise.all(this.#running)
    this.#agent.destroy()
  }

  /** Ends everything at once. */
  abandon(): void {
    this.#stop.abort()
    this.#agent.destroy()
  }

  async #pace(hour: () => number): Promise<void> {
    let due = 0
    let lastMs = performance.now()
    while (!this.#stop.signal.aborted) {
      await sleep(tickMs)
      const nowMs = performance.now()
      due += (callsPerS(hour()) * (nowMs - lastMs)) / 1000
      lastMs = nowMs
      for (; due >= 1; due -= 1) {
        if (this.isPaused || this.#running.size >= mostOpen) continue
        this.#keep(
          ++this.#arrivals % agentEvery === 0 ? this.#agentRun() : this.#one(kindAt(hour(), this.#random)),
        )
      }
    }
  }

  #keep(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #one(kind: CallKind): Promise<void> {
    await this.#call(planCall(this.calls.length, kind, this.#random))
  }

  async #agentRun(): Promise<void> {
    const session = `agent-${this.#arrivals}`
    const count = turns.fewest + Math.floor(this.#random() * turns.more)
    for (let turn = 0; turn < count && !this.#stop.signal.aborted && !this.isPaused; turn++)
      await this.#call(planCall(this.calls.length, 'agent turn', this.#random, session))
  }

  async #call(plan: PlannedCall): Promise<void> {
    const begunMs = performance.now()
    const made: MadeCall = { plan, begunMs, endedMs: 0, end: 'running', status: null, id: null, why: '' }
    this.calls.push(made)
    const body = JSON.stringify(bodyOf(plan))
    try {
      await this.#send(made, body)
    } catch (error) {
      made.why = String(error)
      if (made.end === 'running') {
        const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
        made.end = isRefused ? 'unconnected' : 'broken'
      }
    }
    made.endedMs = performance.now()
  }

  async #send(made: MadeCall, body: string): Promise<void> {
    const { plan } = made
    const req = request({
      port: this.#port,
      host: '127.0.0.1',
      method: 'POST',
      path: pathOf(plan),
      agent: this.#agent,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        traceparent: traceParent(plan),
        ...(plan.session !== null && { 'x-tokenweir-session': plan.session }),
      },
    })
    // What breaks after the head is told by the answer; without this it would be nobody's error.
    req.on('error', () => undefined)
    const answered = once(req, 'response') as Promise<[IncomingMessage]>
    if (plan.kind === 'leaves in upload') {
      req.write(body.slice(0, body.length >> 1))
      await Promise.race([sleep(plan.leaveMs), answered])
      return leave(made, req)
    }
    req.end(body)
    if (plan.kind === 'leaves waiting') {
      await Promise.race([sleep(plan.leaveMs), answered])
      return leave(made, req)
    }
    const [response] = await answered
    made.status = response.statusCode ?? null
    made.id = String(response.headers['x-tokenweir-call-id'] ?? '')
    if (plan.kind === 'leaves reading') {
      response.on('error', () => undefined).resume()
      await Promise.race([sleep(plan.leaveMs), once(response, 'close')])
      return leave(made, req)
    }
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += String(part)
    const wanted = answerPieces(plan, plan.asksUsage).join('')
    made.end = text === wanted || plan.kind === 'hung' ? 'whole' : 'other bytes'
  }
}

function leave(made: MadeCall, req: ClientRequest): void {
  // Of one whose gateway went away first nobody can say who left.
  made.end = req.errored === null && !req.destroyed ? 'left' : 'broken'
  req.destroy()
}

/** The trace by which the row of a call is found. */
export function traceOf(n: number): string {
  return (n + 1).toString(16).padStart(32, '0')
}

function traceParent({ n }: PlannedCall): string {
  return `00-${traceOf(n)}-${'1'.padStart(16, '0')}-01`
}

function bodyOf(plan: PlannedCall): object {
  const text = 'The weir holds the water back. '.repeat(Math.ceil(plan.promptBytes / 31))
  const model = modelOf(plan)
  if (plan.kind === 'embedding') return { model, input: text }
  const tools = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }]
  return {
    model,
    stream: plan.stream,
    ...(plan.stream && plan.asksUsage && { stream_options: { include_usage: true } }),
    ...(plan.kind === 'agent turn' && { tools }),
    messages: [{ role: 'user', content: text }],
  }
}
