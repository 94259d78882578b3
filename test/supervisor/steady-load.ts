import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { seededRandom } from '../support/seeded-random.ts'
import { eventually } from '../support/eventually.ts'
import { type AskedCall, expectedAnswer } from './counted-upstream.ts'

export interface SteadyLoadOptions {
  readonly port: number
  /** 127.0.0.1 unless given. */
  readonly host?: string
  readonly callsPerS: number
  readonly callMs: number
  /** So many streams are open at any time. */
  readonly streams: number
  readonly streamMs: number
}

/** What became of calls. */
export interface LoadFigures {
  readonly calls: number
  readonly streams: number
  /** Answered otherwise than by the upstream, or not at all. */
  readonly failed: number
  /** Answered in part. */
  readonly cut: number
  readonly slowestMs: number
  /** The first of what went wrong. */
  readonly troubles: readonly string[]
}

const tickMs = 10
const keptTroubles = 5
/** Every so many calls one comes on a connection of its own. */
const ownConnectionEvery = 10

/** Clients that go on calling, most of them on connections that they keep, until they are told to stop. */
export class SteadyLoad {
  readonly #options: SteadyLoadOptions
  readonly #agent = new Agent({ keepAlive: true })
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  readonly #troubles: string[] = []
  readonly #startedAt = performance.now()
  readonly #random = seededRandom(1)
  #isOver = false
  #over = 0
  #begun = 0
  #calls = 0
  #streams = 0
  #failed = 0
  #cut = 0
  #slowestMs = 0

  constructor(options: SteadyLoadOptions) {
    this.#options = options
    for (let at = 0; at < options.streams; at++) this.#keep(this.#streamOn())
    this.#timer = setInterval(() => this.#callOn(), tickMs)
  }

  /** Resolves when that many more calls, streams included, are over. */
  async further(calls: number): Promise<void> {
    const until = this.#over + calls
    await eventually(`${calls} further calls`, () => this.#over >= until)
  }

  /** Begins nothing more; resolves when all that was begun is over. */
  async stop(): Promise<LoadFigures> {
    this.#isOver = true
    clearInterval(this.#timer)
    await Promise.all(this.#running)
    this.#agent.destroy()
    return {
      calls: this.#calls,
      streams: this.#streams,
      failed: this.#failed,
      cut: this.#cut,
      slowestMs: this.#slowestMs,
      troubles: this.#troubles,
    }
  }

  #callOn(): void {
    const { callsPerS, callMs } = this.#options
    const due = ((performance.now() - this.#startedAt) * callsPerS) / 1000
    for (; this.#begun < due; this.#begun++) {
      this.#calls += 1
      this.#keep(this.#call({ id: `c${this.#begun}`, stream: false, durationMs: callMs }, this.#begun))
    }
  }

  async #streamOn(): Promise<void> {
    while (!this.#isOver) {
      this.#streams += 1
      // Of different lengths, so that they do not begin and end together.
      const durationMs = this.#options.streamMs * (0.5 + this.#random())
      await this.#call({ id: `s${this.#streams}`, stream: true, durationMs }, this.#streams)
    }
  }

  #keep(running: Promise<void>): void {
    this.#running.add(running)
    void running.finally(() => {
      this.#running.delete(running)
      this.#over += 1
    })
  }

  async #call(asked: AskedCall, at: number): Promise<void> {
    const sentAt = performance.now()
    let received = ''
    try {
      const { status, body } = await this.#post(asked, at % ownConnectionEvery === 0)
      received = body
      if (status !== 200) this.#trouble('failed', asked, `${status} ${body}`)
      else if (body !== expectedAnswer(asked)) this.#trouble('cut', asked, `${body.length} characters`)
    } catch (error) {
      this.#trouble(received === '' ? 'failed' : 'cut', asked, String(error))
    }
    if (!asked.stream) this.#slowestMs = Math.max(this.#slowestMs, performance.now() - sentAt)
  }

  async #post(asked: AskedCall, isAlone: boolean): Promise<{ status: number; body: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
    const req = request({
      port: this.#options.port,
      host: this.#options.host ?? '127.0.0.1',
      method: 'POST',
      path: '/v1/chat/completions',
      agent: isAlone ? false : this.#agent,
      headers: { 'Content-Type': 'application/json' },
    })
    req
      .on('error', reject)
      .once('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
      })
      .end(JSON.stringify({ model: 'm', messages: [], ...asked }))
    return promise
  }

  #trouble(kind: 'failed' | 'cut', { id }: AskedCall, what: string): void {
    if (kind === 'failed') this.#failed += 1
    else this.#cut += 1
    if (this.#troubles.length < keptTroubles) this.#troubles.push(`${id} ${kind}: ${what.slice(0, 200)}`)
  }
}
