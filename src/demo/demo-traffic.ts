import { type Clock, systemClock } from '../call/clock.ts'
import { simulatedHeader } from './demo-upstream.ts'
import { type DemoCall, type ImaginedClient, imaginedClients } from './imagined-clients.ts'
import type { Random } from './random.ts'

export interface DemoTrafficOptions {
  /** `http://127.0.0.1:9090/v1` */
  readonly gatewayBaseUrl: string
  /** The machine's, unless told. */
  readonly clock?: Clock
  readonly random?: Random
}

export interface DemoTraffic extends AsyncDisposable {
  /** Breaks off the calls that run; none begins afterwards. */
  close(): Promise<void>
}

/**
 * Lets the imagined clients use a gateway until closed. While the gateway is away, or has another upstream than
 * the demo's, they only look now and then whether it is back.
 */
export function startDemoTraffic(options: DemoTrafficOptions): DemoTraffic {
  const traffic = new Traffic(options)
  const close = (): Promise<void> => traffic.close()
  return { close, [Symbol.asyncDispose]: close }
}

/** The longest that a client stays away from a gateway that did not answer. */
const longestAwayMs = 5000

/** How long a client stays away after so many calls in a row that the demo's upstream did not answer. */
export function awayMs(failuresInARow: number, random: Random): number {
  const longest = Math.min(longestAwayMs, 250 * 2 ** failuresInARow)
  return (longest * (1 + random())) / 2
}

class Traffic {
  readonly #baseUrl: string
  readonly #clock: Clock
  readonly #random: Random
  readonly #closing = new AbortController()
  readonly #calls = new Set<AbortController>()
  readonly #clients: Promise<unknown>

  constructor({ gatewayBaseUrl, clock = systemClock, random = Math.random }: DemoTrafficOptions) {
    this.#baseUrl = gatewayBaseUrl
    this.#clock = clock
    this.#random = random
    this.#clients = Promise.all(imaginedClients.map((client) => this.#live(client)))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const call of this.#calls) call.abort()
    await this.#clients
  }

  async #live(client: ImaginedClient): Promise<void> {
    let failuresInARow = 0
    for (const step of client.steps(this.#random)) {
      if (this.#closing.signal.aborted) return
      if (typeof step === 'number') {
        await this.#pause(step)
        continue
      }
      const answered = await Promise.all(step.map((call) => this.#call(call, client.name)))
      failuresInARow = answered.includes(true) ? 0 : failuresInARow + 1
      if (failuresInARow > 0) await this.#pause(awayMs(failuresInARow, this.#random))
    }
  }

  /** Whether the demo's upstream answered. */
  async #call(call: DemoCall, client: string): Promise<boolean> {
    const leave = new AbortController()
    this.#calls.add(leave)
    const staysUntil =
      call.leaveAfterMs === undefined ? null : this.#clock.after(call.leaveAfterMs, () => leave.abort())
    let answered = false
    try {
      const response = await fetch(this.#baseUrl + call.path, {
        method: call.body === undefined ? 'GET' : 'POST',
        headers: headersOf(call, client),
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal: leave.signal,
      })
      answered = response.headers.has(simulatedHeader)
      await response.arrayBuffer()
      return answered
    } catch {
      // One who has left has no complaint. An answer that broke off was still one of the demo's.
      return answered || leave.signal.aborted
    } finally {
      staysUntil?.()
      this.#calls.delete(leave)
    }
  }

  /** Ends early, and quietly, when the traffic is closed. */
  async #pause(ms: number): Promise<void> {
    await this.#clock.delay(ms, this.#closing.signal).catch(() => undefined)
  }
}

/**
 * The credential keeps a gateway from lending its `UPSTREAM_API_KEY` to this traffic, should it ever forward to
 * an upstream that costs money.
 */
function headersOf(call: DemoCall, client: string): Record<string, string> {
  return {
    authorization: `Bearer simulated-key-of-${client}`,
    [simulatedHeader]: 'true',
    'x-tokenweir-client': client,
    ...(call.session === undefined ? {} : { 'x-tokenweir-session': call.session }),
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}
