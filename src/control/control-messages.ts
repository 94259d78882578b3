/** The messages between gateways, and between a gateway and a dashboard: each one's shape, and from it its type. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { HealthReport } from '../api/health-report.ts'
import { GatewayCrash } from '../api/process-status.ts'
import { LiveCalls } from '../api/live-calls.ts'
import type { SettingValue } from '../api/proxy-config.ts'
import { type MessageOf, amount, count, finite, fits, whole } from '../lib/message-schema.ts'
import { isObject, readMessage } from '../lib/message-shape.ts'

/** 0 and negative numbers would stand for whole groups of processes, 1 for the system's first. */
const pid = whole(2)
/** Some four thousand years: no clock tells a later minute. */
const maxMinute = 2 ** 31 - 1

/** Strict, because a process may be killed on its word. */
export const identity = {
  pid,
  startTicks: v.nullable(count),
  bootId: v.nullable(v.string()),
}
export const port = whole(0, 65_535)
export const minuteUsage = v.object({
  minute: whole(0, maxMinute),
  tokens: amount,
  estimated: v.optional(amount),
  owners: v.optional(v.array(v.string())),
})

/** The members that are shown or decide something; a page takes all others as they are. */
const isHealth = fits(
  v.object({
    upstream: v.string(),
    db: v.string(),
    pid: count,
    instance: v.string(),
    uptime_s: finite,
    rate_limiter: v.object({
      max_concurrent: finite,
      active: finite,
      queued: finite,
      total_admitted: finite,
    }),
    token_budget: v.object({ daily_limit: finite, percentage_used: finite }),
    telemetry: v.custom(isObject),
    warnings: v.array(v.object({ code: v.string(), message: v.string() })),
  }),
)

export function isHealthReport(value: unknown): value is HealthReport {
  return isHealth(value)
}

/** A gateway that was replaced and finishes its calls. */
export type PredecessorGateway = MessageOf<typeof predecessorGateway>

const predecessorGateway = v.object({
  pid,
  instance: v.string(),
  /** In flight, or waiting. */
  calls: count,
})

/** The crash after which a gateway was started. */
export const gatewayCrash = v.object({ ...GatewayCrash.entries, pid })

/** A gateway's answer to `GET /status` on its control socket. */
export type ControlStatus = MessageOf<typeof isControlStatus>

export const isControlStatus = fits(
  v.object({
    identity: v.object(identity),
    instance: v.string(),
    version: v.string(),
    host: v.string(),
    /** The port it got, also if any free one was asked for. */
    port,
    /** ISO 8601, UTC. */
    started_at: v.string(),
    draining: v.boolean(),
    drain_timeout_ms: amount,
    /** The options in force by their setting names (`max_concurrent`), with changes made since the start. */
    options: v.custom<Readonly<Record<string, SettingValue | readonly string[]>>>(isObject),
    health: v.custom<HealthReport>(isHealthReport),
    /** Gateways that this one has taken over from, and that still finish calls. */
    predecessors: v.array(predecessorGateway),
    /** A dashboard started it, or the gateway before it did: nothing else looks after it. */
    supervised: v.boolean(),
    /** The crash after which it was started. */
    crash: v.nullable(gatewayCrash),
  }),
)

export const isLiveCalls = fits(LiveCalls)

/** A gateway's answer to `POST /calls/{id}/cancel`. */
export const isCancelAnswer = fits(v.object({ cancelled: v.boolean() }))

/** Options that change in a running gateway: the body of `POST /options`. */
export interface LiveOptions {
  readonly queue_order?: string
  readonly max_concurrent?: number
  readonly slot_cooldown_ms?: number
  readonly token_limit?: number
  readonly keep_days?: number
  readonly keep_mb?: number
  /** True if payloads are kept, until further notice. */
  readonly raw_log?: boolean
  /** The calls whose payloads are kept. */
  readonly raw_log_capture?: string
}

/** With what a gateway is to start its successor: the body of `POST /hand-over`. */
export type HandOverOrder = MessageOf<typeof isHandOverOrder>

export const isHandOverOrder = fits(
  v.object({
    /** The program and its first arguments. */
    command: v.array(v.string()),
    args: v.array(v.string()),
    /** The whole environment: nothing of the present gateway's own is passed on. */
    env: v.record(v.string(), v.string()),
    cwd: v.string(),
    /** Path of the file that the successor's output is appended to. */
    log_file: v.string(),
    /** How long it may take to be ready. */
    limit_ms: amount,
  }),
)

/** The outcome of a hand-over. If there is no successor, the gateway serves on as before. */
export type HandOverAnswer = MessageOf<typeof isHandOverAnswer>

export const isHandOverAnswer = fits(
  v.union([
    v.object({ successor: v.object({ pid }) }),
    /** The code is a {@link HandOverFailure}; that of another version may be a further one. */
    v.object({ failed: v.string(), code: v.string() }),
  ]),
)

/**
 * - `busy`: it is stopping, or hands over already.
 * - `port_in_use`: the successor could not have its new port.
 * - `not_up`: the successor ended, or was not ready in time.
 */
export type HandOverFailure = 'busy' | 'port_in_use' | 'not_up'

/** The state in which the payload log is to go on. */
export type RawLogSwitch = MessageOf<typeof switchOfRawLog>

export const rawLogSwitch = {
  enabled: v.boolean(),
  /** When it switches itself off, in ms since the Unix epoch; null for until further notice. */
  untilMs: v.nullable(finite),
}

const switchOfRawLog = v.object(rawLogSwitch)

/** A gateway that was replaced, and tokens that its calls in flight may still use. */
export type PredecessorClaim = MessageOf<typeof predecessorClaim>

export const claim = { instance: v.string(), identity: v.object(identity), reserved: amount }

export const predecessorClaim = v.object(claim)

const slotsOfClient = v.object({ of: v.string(), slots: count })

/** The slots of one upstream in a gateway that was replaced. */
export type PredecessorSlots = MessageOf<typeof predecessorSlots>

const predecessorSlots = v.object({
  /** The upstream's. */
  name: v.string(),
  /** Its limit there. */
  max: count,
  /** The gateway uses no more slots than these. */
  holding: count,
  /** Its calls use, or wait for, so many. */
  wants: count,
  /** The calls of clients with a limit of their own, also those that wait for others of the same client. */
  clients: v.array(slotsOfClient),
})

/** An old gateway's answer about its calls: all of them, or whether one was cancelled. */
export type CallsAnswer = MessageOf<typeof callsAnswer>

const callsAnswer = v.object({ seq: count, live: LiveCalls, cancelled: v.boolean() })

/** A replaced gateway's count of a limit a minute. */
export type HandedLimit = MessageOf<typeof handedLimit>
export type LearnedLimit = NonNullable<HandedLimit['learned']>

export const handedLimit = v.object({
  key: v.string(),
  /** The limit itself and whose it is, if it was learned of a provider. */
  learned: v.nullable(
    v.object({
      upstream: v.string(),
      model: v.nullable(v.string()),
      key: v.nullable(v.string()),
      kind: v.picklist(['requests', 'tokens', 'input_tokens', 'output_tokens']),
      limit: amount,
    }),
  ),
  /** Ages in milliseconds and amounts, the oldest first. */
  taken: v.array(v.array(finite)),
  /** Calls wait for it there. */
  isAwaited: v.boolean(),
})

/** The same of what it has taken since its last report. */
export type LimitReport = MessageOf<typeof limitReport>

const limitUse = v.object({ key: v.string(), more: finite })
export type LimitUse = MessageOf<typeof limitUse>
const limitReport = v.object({ ...limitUse.entries, isAwaited: v.boolean() })

/** The body of `POST /draining`, by which a gateway that was replaced tells its successor how it is. */
export type DrainReport = MessageOf<typeof isDrainReport>

export const isDrainReport = fits(
  v.object({
    ...claim,
    /** In flight, or waiting. */
    calls: count,
    slots: v.array(predecessorSlots),
    /** Tokens of calls that ended since the last report that was answered, by the minute of their end. */
    used: v.array(minuteUsage),
    /** Tokens that its own budget counts as used. */
    counted: amount,
    /** Use of each limit a minute. */
    minutes: v.array(limitReport),
    /** To what the successor has asked. */
    answers: v.array(callsAnswer),
    /** The gateway has no calls any more, and ends. */
    isLast: v.boolean(),
  }),
)

/** The answer to it. */
export type DrainAnswer = MessageOf<typeof isDrainAnswer>

export const isDrainAnswer = fits(
  v.object({
    slots: v.array(
      v.object({
        name: v.string(),
        /** The slots that the gateway may use from now on: those that it holds, and perhaps more. */
        holding: count,
        /** The slots that gateways before it need of clients with a limit; null while that is not known. */
        clients: v.nullable(v.array(slotsOfClient)),
      }),
    ),
    /** Tokens that others may still use, or have used unknown to this gateway. */
    taken: amount,
    /** Use of limits a minute elsewhere since the last report. */
    minutes: v.array(limitUse),
    /** Asks for its calls, or to cancel the one of this id. */
    asks: v.array(v.object({ seq: count, cancel: v.nullable(v.string()) })),
    /** How the payload log was switched since the hand-over; null if it was not. */
    rawLog: v.nullable(switchOfRawLog),
    /** The whole gateway stops, and what is in flight has so long; null if it does not stop. */
    stopWithinMs: v.nullable(amount),
  }),
)

const isErrorBody = fits(v.object({ error: v.object({ code: v.string(), message: v.string() }) }))

/** Why a gateway refused, out of its answer's body. */
export function refusalIn(body: string): { readonly code: string; readonly message: string } {
  return (
    readMessage(body, isErrorBody)?.error ?? { code: 'refused', message: 'it refused, and did not say why' }
  )
}

/** The gateway as its control server needs it. */
export interface ControlledGateway {
  status(): ControlStatus
  /** The calls that are not over yet, also those of gateways that it has replaced. */
  live(): Promise<LiveCalls>
  /** Ends a call, here or there. False if none of this id is under way. */
  cancel(id: string): Promise<boolean>
  /** Begins to stop in order, as after SIGTERM. Once begun, further calls change nothing. */
  stop(): void
  /** Reads again what people wrote of clients and upstreams, which is in force when this returns. */
  reloadFiles(): void
  /** The values are checked already. Rejects, and changes nothing, where gateways that share one cannot be told. */
  setOptions(options: LiveOptions): Promise<void>
  /** Starts a successor, and once that is ready leaves everything new to it. Never rejects. */
  handOver(order: HandOverOrder): Promise<HandOverAnswer>
  /** A gateway that this one has taken over from reports; null if its reports are for another gateway. */
  draining(report: DrainReport): DrainAnswer | null
  /** Answers what is asked under `/raw-log/`, as under `/v1/raw-log/` over HTTP. Never throws. */
  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void
}
