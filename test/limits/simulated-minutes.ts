import { SlotLimiter } from '../../src/gateway/admission/slot-limiter.ts'
import type { QueueDiscipline } from '../../src/gateway/admission/admission.ts'
import { type LimitStake, noTokens } from '../../src/gateway/limits/owned-limit.ts'
import { MinuteLimits, type MinuteSetting } from '../../src/gateway/limits/minute-limits.ts'
import { retryWaitMs } from '../../src/gateway/call/retry-rules.ts'
import { reportsLimits } from '../../src/gateway/limits/limit-headers.ts'
import { SeenLimits } from '../../src/gateway/limits/seen-limits.ts'
import { clientOwner } from '../../src/gateway/admission/owner.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { LimitedProvider, fullestMinute } from './limited-provider.ts'

export interface Scene {
  readonly set?: MinuteSetting
  readonly learns?: boolean
  /** The provider tells its limits in headers; else only how long to wait. */
  readonly isHonest?: boolean
  readonly retries?: number
  readonly order?: QueueDiscipline
  readonly ofFirstClient?: MinuteSetting
  readonly seed?: number
  /** Calls name no `max_tokens`. */
  readonly tellsMost?: boolean
  /** A scheduler that knows what each call uses, and sends it as soon as the limit, spread evenly, has room for it. */
  readonly isIdeal?: boolean
}

export interface SceneOutcome {
  readonly calls: number
  /** Refusals that clients saw, and those after the first ten seconds. */
  readonly refused: number
  readonly refusedLate: number
  /** Share of what the provider allows in the time. */
  readonly used: number
  readonly fullestRequests: number
  readonly fullestTokens: number
  readonly longestWaitMs: number
}

export const clients = 40
export const requestsAMinute = 500
export const tokensAMinute = 100_000
const lastMs = 180_000
export const serviceMs = 1000
/** A minute, and the tenth of a second that calls may take to arrive. */
const countedMs = 60_100
/** A client that never waits calls so often: together they want three times what there is. */
const meanTokens = 4100
export const everyMs = (60_000 * clients * meanTokens) / (3 * tokensAMinute)

interface Sizes {
  readonly input: number
  readonly output: number
}

/** The same calls in the same order for every scene. */
export function makeSizes(seed: number): () => Sizes {
  const random = seededRandom(seed)
  return () => {
    const tokens = 200 + Math.floor(random() * 7801)
    const output = Math.floor(tokens * (0.1 + random() * 0.4))
    return { input: tokens - output, output }
  }
}

/** Forty clients that call a provider with limits a minute for three minutes, by a clock that is turned. */
export async function play(scene: Scene): Promise<SceneOutcome> {
  const { set = {}, learns = false, isHonest = true, retries = 0, order = 'fifo', seed = 1 } = scene
  const clock = new FakeClock()
  const provider = new LimitedProvider(requestsAMinute, tokensAMinute, scene.isIdeal === true ? 0 : 1)
  const admission = new SlotLimiter({
    clock,
    maxConcurrent: 100,
    slotCooldownMs: 0,
    queueLimit: 1000,
    queueTimeoutMs: 0,
    queueOrder: order,
  })
  const kept = new MinuteLimits(() => clock.now(), learns)
  const seen = new SeenLimits()
  kept.onRoom = () => admission.wake()
  kept.onChange = () => admission.restake()
  const ofClients =
    scene.ofFirstClient === undefined ? [] : [[clientOwner('c0'), scene.ofFirstClient] as const]
  kept.set([{ name: 'default', models: [], ...set }], new Map(ofClients))
  const size = makeSizes(seed)
  const use = { upstream: 'default', model: 'm', key: null }
  const random = seededRandom(seed + 1)
  let [calls, refused, refusedLate, longestWaitMs] = [0, 0, 0, 0]

  const call = async (caller: { client: string; keyFingerprint: null }): Promise<void> => {
    const { input, output } = size()
    const cameMs = clock.now()
    calls += 1
    let soFar = { retries: 0, waitedMs: 0 }
    let heldMs = 0
    for (;;) {
      let stake: LimitStake | null = null
      const ideal = {
        group: provider,
        waitMs: (nowMs: number) => provider.waitMs(nowMs, input + output),
        charge: (nowMs: number) => provider.ask(nowMs, input + output),
      }
      const stakeOf = (): LimitStake | null =>
        (stake = kept.isOn
          ? kept.stakeOf(use, {
              caller,
              requestBytes: input * 4,
              tokensAsked: scene.tellsMost === false ? 0 : output,
              sinceMs: cameMs,
            })
          : null)
      const permit = await admission.acquire(
        new AbortController().signal,
        soFar.retries === 0 ? 'arrival' : 'back',
        caller,
        heldMs,
        scene.isIdeal === true ? () => ideal : stakeOf,
      )
      if (soFar.retries === 0) longestWaitMs = Math.max(longestWaitMs, clock.now() - cameMs)
      const sentMs = clock.now()
      const waitMs = scene.isIdeal === true ? null : provider.ask(sentMs, input + output)
      const headers = [
        ...(isHonest ? provider.headers() : []),
        ...(waitMs === null ? [] : ['retry-after', String(Math.ceil(waitMs / 1000))]),
      ]
      await clock.delay(waitMs === null ? serviceMs : 30)
      const head = { status: waitMs === null ? 200 : 429, statusText: '', headers, contentLength: null }
      const made = stake as LimitStake | null
      if (waitMs !== null && made !== null) kept.settle(made, noTokens)
      if (made !== null && reportsLimits(head)) kept.applySeen(made, seen.note(use, head, clock.wallTime()))
      heldMs = clock.now() - sentMs
      if (waitMs === null) {
        permit.release()
        if (made !== null) kept.settle(made, { input, output })
        kept.learn('m', input * 4, { input, output })
        return
      }
      permit.release()
      const hint = { afterMs: Math.ceil(waitMs / 1000) * 1000, forbidden: false }
      const pauseMs = retryWaitMs(hint, soFar, retries, random())
      if (pauseMs === null) {
        refused += 1
        if (clock.now() > 10_000) refusedLate += 1
        return
      }
      await clock.delay(pauseMs)
      soFar = { retries: soFar.retries + 1, waitedMs: soFar.waitedMs + pauseMs }
    }
  }

  const clientLoop = async (client: string): Promise<void> => {
    await clock.delay(random() * everyMs)
    while (clock.now() < lastMs) {
      const dueMs = clock.now() + everyMs
      await call({ client, keyFingerprint: null })
      await clock.delay(Math.max(0, dueMs - clock.now()))
    }
  }
  const loops = Array.from({ length: clients }, (_, at) => clientLoop(`c${at}`))
  await clock.advance(lastMs)
  const { taken } = provider
  const result = {
    calls,
    refused,
    refusedLate,
    used: taken.reduce((sum, [, tokens]) => sum + tokens, 0) / (3 * tokensAMinute),
    fullestRequests: fullestMinute(
      taken.map(([atMs]) => [atMs, 1]),
      countedMs,
    ),
    fullestTokens: fullestMinute(taken, countedMs),
    longestWaitMs,
  }
  // Whoever waits goes on until all is over, so that nothing is left behind.
  void loops
  return result
}
