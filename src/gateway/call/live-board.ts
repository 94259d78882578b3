import type { LiveCall, LiveState } from '../../api/live-calls.ts'
import { formatCallId, startedAtMs } from '../../call/call-id.ts'
import type { RunningCall } from './running-call.ts'

/** The current speed is measured over this time (ms), or up to twice as long. */
const paceMs = 2000
/** An older snapshot (ms) does not serve for the current speed. */
const oldLookMs = 10_000

/** Content chunks of a call at two earlier snapshots. */
interface Pace {
  fromMs: number
  fromChunks: number
  laterMs: number
  laterChunks: number
}

/** Describes the calls in progress. Speeds are computed for each snapshot, so that calls need not keep them. */
export class LiveBoard {
  readonly #paces = new WeakMap<RunningCall, Pace>()

  /**
   * The calls in progress. `queues`: for each upstream, the signals of calls that wait for slots, the next
   * one first. `nowMs` is of the calls' monotonic clock.
   */
  snapshot(
    running: Iterable<RunningCall>,
    queues: readonly (readonly AbortSignal[])[],
    nowMs: number,
  ): readonly LiveCall[] {
    const places = new Map<AbortSignal | null, number>()
    for (const waiting of queues)
      for (const [index, signal] of waiting.entries()) places.set(signal, index + 1)
    return Array.from(running, (call) => {
      const queueIndex = places.get(call.client.signalSoFar) ?? null
      return this.#describe(call, queueIndex, nowMs)
    })
  }

  #describe(call: RunningCall, queueIndex: number | null, nowMs: number): LiveCall {
    const { record, timeline, upstream, endpoint, meter } = call
    const { receivedAt, bodyReadAt, admittedAt, firstDispatchAt, dispatchedAt, answeredAt } = timeline
    const startedMs = startedAtMs(record.id)
    const [state, sinceMs] = stateOf(call, queueIndex)
    return {
      id: formatCallId(record.id),
      started_at: new Date(startedMs).toISOString(),
      method: record.method,
      path: record.endpoint,
      model: record.model,
      client: record.client,
      session: record.session,
      upstream: upstream.isDefault ? endpoint.base.host : upstream.name,
      state,
      queue_place: queueIndex,
      waits_for: queueIndex === null ? null : (call.stake?.group.kindWaitedFor ?? 'slot'),
      state_since: new Date(startedMs + Math.max(0, sinceMs - receivedAt)).toISOString(),
      chunks: meter?.chunks ?? 0,
      chunks_per_s: this.#speed(call, nowMs),
      request_bytes: record.requestBytes,
      response_bytes: meter?.responseBytes ?? 0,
      receive_ms: between(receivedAt, bodyReadAt),
      queue_ms: between(bodyReadAt, admittedAt),
      retry_wait_ms: between(firstDispatchAt, dispatchedAt),
      ttfb_ms: between(dispatchedAt, answeredAt),
      ttft_ms: between(dispatchedAt, meter?.firstContentAtMs ?? null),
    }
  }

  #speed(call: RunningCall, nowMs: number): number | null {
    const { chunks = 0, firstContentAtMs = null } = call.meter ?? {}
    if (firstContentAtMs === null || chunks < 2) return null
    let pace = this.#paces.get(call)
    // A lost attempt may have had more chunks.
    if (pace === undefined || nowMs - pace.laterMs > oldLookMs || pace.laterChunks > chunks) {
      pace = { fromMs: firstContentAtMs, fromChunks: 1, laterMs: nowMs, laterChunks: chunks }
      this.#paces.set(call, pace)
    } else if (nowMs - pace.laterMs >= paceMs) {
      pace.fromMs = pace.laterMs
      pace.fromChunks = pace.laterChunks
      pace.laterMs = nowMs
      pace.laterChunks = chunks
    }
    const seconds = (nowMs - pace.fromMs) / 1000
    return seconds > 0 ? Math.round((10 * (chunks - pace.fromChunks)) / seconds) / 10 : null
  }
}

/** The call's state and when it began (monotonic ms); for an ended call, its last state. */
function stateOf({ timeline, waitsSince }: RunningCall, queueIndex: number | null): [LiveState, number] {
  const { receivedAt, bodyReadAt, admittedAt, dispatchedAt, answeredAt } = timeline
  if (bodyReadAt === null) return ['receiving', receivedAt]
  if (admittedAt === null) return ['queued', bodyReadAt]
  if (waitsSince !== null) return [queueIndex === null ? 'backing_off' : 'queued', waitsSince]
  if (answeredAt === null) return ['waiting', dispatchedAt ?? admittedAt]
  return ['streaming', answeredAt]
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.round(to - from)
}
