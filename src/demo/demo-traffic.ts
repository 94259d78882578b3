import { type Clock, systemClock } from '../call/clock.ts'
import { backoffMs } from '../lib/backoff.ts'
import { simulatedHeader } from './demo-upstream.ts'
import { type DemoCall, type DemoClient, demoClients, stepsOf } from './demo-clients.ts'
import type { Random } from './random.ts'

/** The demo clients' target, and their other settings. */
export interface DemoTrafficOptions {
  /** `http://127.0.0.1:9090/v1` */
  readonly gatewayBaseUrl: string
  /** The clock (default: the machine's). */
  readonly clock?: Clock
  readonly random?: Random
}

/** The running demo clients. */
export interface DemoTraffic extends AsyncDisposable {
  /** Aborts running calls, and starts no more. */
  close(): Promise<void>
}

/** Pause of a client after a call without an answer. */
const away = { firstMs: 500, longestMs: 5000 } as const

/** Pause of a client, in milliseconds, after `failuresInARow` calls without an answer of the demo's upstream. */
export function awayMs(failuresInARow: number, random: Random): number {
  return (backoffMs(away, failuresInARow) * (1 + random())) / 2
}

/** Time limit of a call. */
const longestStayMs = 600_000

/**
 * Lets the demo clients use a gateway until closed. If the gateway is away, or has another upstream than the
 * demo's, they only check now and then whether it is back.
 */
export function startDemoTraffic({
  gatewayBaseUrl,
  clock = systemClock,
  random = Math.random,
}: DemoTrafficOptions): DemoTraffic {
  const closing = new AbortController()
  const pause = (ms: number): Promise<void> => clock.delay(ms, closing.signal).catch(() => undefined)

  const live = async (client: DemoClient): Promise<void> => {
    let failuresInARow = 0
    for (const step of stepsOf(client, random)) {
      if (typeof step === 'number') await pause(step)
      else {
        const answers = await Promise.all(step.map((call) => makeCall(call, client.name)))
        failuresInARow = answers.includes(true) ? 0 : failuresInARow + 1
        if (failuresInARow > 0) await pause(awayMs(failuresInARow, random))
      }
      if (closing.signal.aborted) return
    }
  }

  /** Makes a call. Resolves with true if the demo's upstream answered. */
  const makeCall = async (
    { path, body, session, leaveAfterMs = longestStayMs }: DemoCall,
    client: string,
  ): Promise<boolean> => {
    const leave = new AbortController()
    const signal = AbortSignal.any([leave.signal, closing.signal])
    const stay = clock.after(leaveAfterMs, () => leave.abort())
    let isAnswered = false
    try {
      const response = await fetch(gatewayBaseUrl + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          // The call has a key, so that the gateway never adds `UPSTREAM_API_KEY`, even if it forwards to a
          // paid upstream.
          authorization: `Bearer simulated-key-of-${client}`,
          [simulatedHeader]: 'true',
          'x-tokenweir-client': client,
          ...(session === undefined ? {} : { 'x-tokenweir-session': session }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      })
      isAnswered = response.headers.has(simulatedHeader)
      await response.arrayBuffer()
      return isAnswered
    } catch {
      // A client that left counts as answered, and so does a broken answer of the demo's upstream.
      return isAnswered || signal.aborted
    } finally {
      stay()
    }
  }

  const clients = Promise.all(demoClients.map(live))
  const close = async (): Promise<void> => {
    closing.abort()
    await clients
  }
  return { close, [Symbol.asyncDispose]: close }
}
