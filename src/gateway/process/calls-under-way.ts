import type { LiveCall, LiveCalls, LiveState } from '../../api/live-calls.ts'
import { formatCallId, parseCallId, startedAtMs } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import type { CallsAnswer } from '../../control/control-messages.ts'
import { defaultName } from '../../options/upstream-settings.ts'
import type { Caller } from '../admission/admission.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { CallHandler } from '../call/handle-call.ts'
import type { RunningCall } from '../call/running-call.ts'
import type { OldGateways } from '../handover/old-gateways.ts'

/** Most calls in one answer. */
const mostCalls = 1000
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

interface CallsUnderWayParts {
  readonly calls: CallHandler
  /** The slots of each upstream. */
  readonly admissions: () => readonly SlotLimiter[]
  readonly clock: Clock
  readonly oldGateways: OldGateways
}

/**
 * The running calls of this gateway, and of the old gateways that still finish theirs. Speeds are computed for each
 * answer, so that calls need not keep them.
 */
export class CallsUnderWay {
  readonly #parts: CallsUnderWayParts
  readonly #paces = new WeakMap<RunningCall, Pace>()

  constructor(parts: CallsUnderWayParts) {
    this.#parts = parts
  }

  async live(): Promise<LiveCalls> {
    const { oldGateways } = this.#parts
    const others = await oldGateways.ask(null)
    const ownCalls = this.#snapshot()
    return others.length === 0 ? ownCalls : merged([ownCalls, ...others.map(({ live }) => live)])
  }

  /** Cancels a call, here or at an old gateway. Resolves with false if no call with this id is running. */
  async cancel(id: string): Promise<boolean> {
    if (this.#cancel(id)) return true
    const answers = await this.#parts.oldGateways.ask(id)
    return answers.some(({ cancelled }) => cancelled)
  }

  /** Answers a successor: all calls here, or whether the call with this id was cancelled. */
  answer(cancel: string | null): Omit<CallsAnswer, 'seq'> {
    if (cancel !== null) return { live: { calls: [], more: 0 }, cancelled: this.#cancel(cancel) }
    return { live: this.#snapshot(), cancelled: false }
  }

  #snapshot(): LiveCalls {
    const { calls, admissions, clock } = this.#parts
    const nowMs = clock.now()
    // A call's record is its caller.
    const places = new Map<Caller, number>()
    for (const admission of admissions())
      for (const [index, caller] of admission.waiting().entries()) places.set(caller, index + 1)
    const live = Array.from(calls.running, (call) =>
      this.#describe(call, places.get(call.record) ?? null, nowMs),
    )
    return merged([{ calls: live, more: 0 }])
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
      upstream: upstream.name === defaultName ? endpoint.base.host : upstream.name,
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

  #cancel(id: string): boolean {
    const number = parseCallId(id)
    return number !== null && this.#parts.calls.cancel(number)
  }
}

function merged(boards: readonly LiveCalls[]): LiveCalls {
  const all = boards.flatMap(({ calls }) => calls).sort((a, b) => (a.id < b.id ? -1 : 1))
  const more = boards.reduce((sum, board) => sum + board.more, Math.max(0, all.length - mostCalls))
  return { calls: all.slice(0, mostCalls), more }
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
