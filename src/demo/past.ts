import type { GatewayMinute } from '../call/call-sink.ts'
import { startedAtMs } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { type PastRequest, pastCall } from './past-call.ts'
import type { Incident } from './past-failures.ts'
import { isNight, pastLoad } from './past-load.ts'
import type { PastGateway } from './past-gateway.ts'
import { type Random, between, drawFrom, weightedPick } from './random.ts'

/** A wait in milliseconds, or calls that run together until all have ended. */
export type PastStep = number | readonly PastRequest[]

export interface PastClient {
  /** Fields that all calls of the client have, such as its name. */
  readonly caller: Partial<StoredCall>
  /** How often the client begins a round, relative to the other clients' weights. */
  readonly weight: number
  /** The weight by night (default: `weight`). */
  readonly nightWeight?: number
  /** The steps in a row, often in a session. */
  readonly round: (random: Random) => Iterator<PastStep>
}

/** Calls as gateways would have recorded them: the same past is the same calls. */
export interface Past {
  readonly random: Random
  readonly calls: number
  readonly firstMinute: number
  readonly minutes: number
  /** Minutes by which the clients' clocks are ahead of UTC. */
  readonly aheadOfUtc: number
  readonly clients: readonly PastClient[]
  readonly incidents: readonly Incident[]
  /** The gateways, one for each upstream. */
  readonly gateways: readonly PastGateway[]
}

export interface PastMinute {
  /** In the order of their ends. */
  readonly calls: readonly StoredCall[]
  /** The gateways' own notes, in the gateways' order; none while they are stopped. */
  readonly notes: readonly GatewayMinute[]
}

/** A round, and the instant of its next step. */
interface Event {
  readonly atMs: number
  readonly caller: Partial<StoredCall>
  readonly steps: Iterator<PastStep>
}

const minuteMs = 60_000
const mostRetries = 2

/** The minutes in their order. */
export function* pastMinutes(past: Past): Generator<PastMinute> {
  const { random, calls: totalCalls, firstMinute, minutes, incidents, clients, aheadOfUtc, gateways } = past
  const incidentsAt = (minute: number): readonly Incident[] =>
    incidents.filter(({ fromMinute, toMinute }) => fromMinute <= minute && minute < toMinute)
  const loads = pastLoad(random, { ...past, firstMinute: firstMinute + aheadOfUtc }, (index) =>
    isStopped(incidentsAt(firstMinute + index)),
  )
  const byDay = weightedPick(clients, ({ weight }) => weight)
  const byNight = weightedPick(clients, ({ weight, nightWeight = weight }) => nightWeight)
  /** The soonest is the last. */
  const events: Event[] = []
  const plan = (event: Event): void => {
    events.splice(events.findLastIndex(({ atMs }) => atMs > event.atMs) + 1, 0, event)
  }
  let [expectedCalls, madeCalls] = [0, 0]
  for (const [index, expected] of loads.entries()) {
    const minute = firstMinute + index
    const [startMs, endMs] = [minute * minuteMs, (minute + 1) * minuteMs]
    const activeIncidents = incidentsAt(minute)
    const calls: StoredCall[] = []
    /** Makes the calls of a round's next step. */
    const goOn = ({ atMs, caller, steps }: Event): void => {
      const step = steps.next()
      if (step.done === true) return
      if (typeof step.value === 'number') return plan({ atMs: atMs + step.value, caller, steps })
      let nextMs = atMs
      for (const request of step.value.slice(0, totalCalls - madeCalls)) {
        const { model, retry = 0 } = request
        const gateway = gateways.find(({ upstream }) => upstream === model.upstream)
        if (gateway === undefined) throw new Error(`${model.upstream} has no gateway`)
        const call = pastCall(request, {
          random,
          startMs: atMs,
          serial: madeCalls++,
          caller,
          gateway,
          incidents: activeIncidents.flatMap(({ kind, of }) =>
            of === model.upstream || of === model.id ? [kind] : [],
          ),
          load: (expected * minutes) / totalCalls,
        })
        calls.push(call)
        const endedMs = atMs + (call.durationMs ?? 0)
        nextMs = Math.max(nextMs, endedMs)
        if (call.status !== 429 || retry === mostRetries) continue
        const again = [[{ ...request, retry: retry + 1 }]].values()
        plan({ atMs: endedMs + drawFrom(random, { median: 1500 * 2 ** retry }), caller, steps: again })
      }
      plan({ atMs: nextMs, caller, steps })
    }
    if (isStopped(activeIncidents)) {
      // Rounds whose next step is in this minute end, because no gateway runs.
      while ((events.at(-1)?.atMs ?? Infinity) < endMs) events.pop()
      yield { calls, notes: [] }
      continue
    }
    expectedCalls += expected
    const plannedCalls = events.length - 1 - events.findLastIndex(({ atMs }) => atMs >= endMs)
    const pick = isNight(minute + aheadOfUtc) ? byNight : byDay
    // The last minute has all that is left.
    let missing =
      index === minutes - 1 ? totalCalls - madeCalls : Math.round(expectedCalls) - madeCalls - plannedCalls
    for (; missing > 0; missing--) {
      const { caller, round } = pick(random)
      plan({ atMs: between(random, startMs, endMs), caller, steps: round(random) })
    }
    for (let next = events.at(-1); next !== undefined && next.atMs < endMs; next = events.at(-1)) {
      events.pop()
      goOn(next)
    }
    calls.sort((one, other) => endOf(one) - endOf(other))
    yield { calls, notes: gateways.map((gateway) => gateway.minute(minute)) }
  }
}

function isStopped(incidents: readonly Incident[]): boolean {
  return incidents.some(({ kind }) => kind === 'stopped')
}

function endOf({ id, durationMs }: StoredCall): number {
  return startedAtMs(id) + (durationMs ?? 0)
}
