/** The messages between gateways, and between a gateway and a dashboard: each one's shape, and from it its type. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { HealthReport } from '../api/health-report.ts'
import { GatewayCrash } from '../api/process-status.ts'
import { LiveCalls } from '../api/live-calls.ts'
import type { SettingValue } from '../api/proxy-config.ts'
import { type MessageOf, amount, count, finite, fits, integer } from '../lib/message-schema.ts'
import { isObject, readMessage } from '../lib/message-shape.ts'

/** A process id. 0 and negative numbers would mean process groups, and 1 the system's first process. */
const pid = integer(2)
/** About four thousand years: no real clock shows a later minute. */
const maxMinute = 2 ** 31 - 1

/** The identity of a process. The schema is strict, because a process may be killed by this identity. */
export const identity = {
  pid,
  startTicks: v.nullable(count),
  bootId: v.nullable(v.string()),
}
export const port = integer(0, 65_535)
export const minuteUsage = v.object({
  minute: integer(0, maxMinute),
  tokens: amount,
  estimated: v.optional(amount),
  owners: v.optional(v.array(v.string())),
})

/** The checked members of the health report. The page shows all others unchecked. */
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

/** True if a value is a health report, by the members that this program uses. */
export function isHealthReport(value: unknown): value is HealthReport {
  return isHealth(value)
}

/** A replaced gateway that finishes its calls. */
export type PredecessorGateway = MessageOf<typeof predecessorGateway>

const predecessorGateway = v.object({
  pid,
  instance: v.string(),
  /** Calls in flight or waiting. */
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
    /** The actual port, also if the option is 0. */
    port,
    /** ISO 8601, UTC. */
    started_at: v.string(),
    draining: v.boolean(),
    drain_timeout_ms: amount,
    /** The options in force, by setting name (`max_concurrent`), with changes since the start. */
    options: v.custom<Readonly<Record<string, SettingValue | readonly string[]>>>(isObject),
    health: v.custom<HealthReport>(isHealthReport),
    /** Replaced gateways that still finish calls. */
    predecessors: v.array(predecessorGateway),
    /** A dashboard or the predecessor started the gateway, so a dashboard restarts it after a crash. */
    supervised: v.boolean(),
    /** The crash after which the gateway was started; null for any other start. */
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
  /** Switches the raw log on or off until further notice. */
  readonly raw_log?: boolean
  /** The rule that selects the calls for the raw log. */
  readonly raw_log_capture?: string
}

/** How a gateway starts its successor: the body of `POST /hand-over`. */
export type HandOverOrder = MessageOf<typeof isHandOverOrder>

export const isHandOverOrder = fits(
  v.object({
    /** The program and its first arguments. */
    command: v.array(v.string()),
    args: v.array(v.string()),
    /** The whole environment of the successor, which inherits no variable of the present gateway. */
    env: v.record(v.string(), v.string()),
    cwd: v.string(),
    /** Path of the file that the successor's output is appended to. */
    log_file: v.string(),
    /** Longest time until the successor is ready. */
    limit_ms: amount,
  }),
)

/** The outcome of a hand-over. After a failure the gateway continues unchanged. */
export type HandOverAnswer = MessageOf<typeof isHandOverAnswer>

export const isHandOverAnswer = fits(
  v.union([
    v.object({ successor: v.object({ pid }) }),
    /** The code is a {@link HandOverFailure}; another version may have further codes. */
    v.object({ failed: v.string(), code: v.string() }),
  ]),
)

/**
 * - `busy`: the gateway is stopping, or hands over already.
 * - `port_in_use`: the successor's new port is in use.
 * - `not_up`: the successor ended, or was not ready in time.
 */
export type HandOverFailure = 'busy' | 'port_in_use' | 'not_up'

/** The state of the raw log. */
export type RawLogSwitch = MessageOf<typeof switchOfRawLog>

export const rawLogSwitch = {
  enabled: v.boolean(),
  /** When the log switches itself off, in ms since the Unix epoch; null for never. */
  untilMs: v.nullable(finite),
}

const switchOfRawLog = v.object(rawLogSwitch)

/** A replaced gateway, and the tokens that its calls in flight may still use. */
export type PredecessorClaim = MessageOf<typeof predecessorClaim>

export const claim = { instance: v.string(), identity: v.object(identity), reserved: amount }

export const predecessorClaim = v.object(claim)

const slotsOfClient = v.object({ of: v.string(), slots: count })

/** The slots of one upstream in a replaced gateway. */
export type PredecessorSlots = MessageOf<typeof predecessorSlots>

const predecessorSlots = v.object({
  /** The name of the upstream. */
  name: v.string(),
  /** The upstream's slots by the old gateway's settings. */
  max: count,
  /** Most slots that the gateway uses. */
  holding: count,
  /** Slots that its calls use or wait for. */
  wants: count,
  /** Slots of clients with a limit, with calls that wait for that limit. */
  clients: v.array(slotsOfClient),
})

/** An old gateway's answer about its calls: all of them, or whether one was cancelled. */
export type CallsAnswer = MessageOf<typeof callsAnswer>

const callsAnswer = v.object({ seq: count, live: LiveCalls, cancelled: v.boolean() })

/** A limit a minute in the handover. */
export type HandedLimit = MessageOf<typeof handedLimit>
export type LearnedLimit = NonNullable<HandedLimit['learned']>

export const handedLimit = v.object({
  key: v.string(),
  /** The limit and its owner, if it was learned from a provider; else null. */
  learned: v.nullable(
    v.object({
      upstream: v.string(),
      model: v.nullable(v.string()),
      key: v.nullable(v.string()),
      kind: v.picklist(['requests', 'tokens', 'input_tokens', 'output_tokens']),
      /** Null without a known limit. */
      limit: v.nullable(amount),
      isDerived: v.boolean(),
      /** The rest of the wait that the provider asked for. */
      pausedMs: amount,
    }),
  ),
  /** Uses within the last minute, oldest first: each an age in ms and an amount. */
  taken: v.array(v.array(finite)),
  /** Calls of the old gateway wait for the limit. */
  isAwaited: v.boolean(),
})

/** A limit a minute in a report: the use since the last one. */
export type LimitReport = MessageOf<typeof limitReport>

const limitUse = v.object({ key: v.string(), more: finite })
export type LimitUse = MessageOf<typeof limitUse>
const limitReport = v.object({ ...limitUse.entries, isAwaited: v.boolean() })

/** A replaced gateway's report to its successor: the body of `POST /draining`. */
export type DrainReport = MessageOf<typeof isDrainReport>

export const isDrainReport = fits(
  v.object({
    ...claim,
    /** Calls in flight or waiting. */
    calls: count,
    slots: v.array(predecessorSlots),
    /** Tokens of calls that ended since the last answered report, by minute. */
    used: v.array(minuteUsage),
    /** Tokens that the old gateway's budget counts as used. */
    counted: amount,
    /** Use of each limit a minute. */
    minutes: v.array(limitReport),
    /** Answers to the successor's questions. */
    answers: v.array(callsAnswer),
    /** The gateway has no calls left, and ends. */
    isLast: v.boolean(),
  }),
)

/** The answer to a report. */
export type DrainAnswer = MessageOf<typeof isDrainAnswer>

export const isDrainAnswer = fits(
  v.object({
    slots: v.array(
      v.object({
        name: v.string(),
        /** The upstream's slots by the newest gateway's settings; absent for one that was removed there. */
        max: v.optional(count),
        /** The slots that the gateway may use from now on: those that it holds, or more. */
        holding: count,
        /** Slots that older gateways need for clients with a limit; null while unknown. */
        clients: v.nullable(v.array(slotsOfClient)),
      }),
    ),
    /** Tokens that other gateways may still use, or have used without this gateway's knowledge. */
    taken: amount,
    /** Use of limits a minute elsewhere since the last report. */
    minutes: v.array(limitUse),
    /** Questions to the old gateway: list all calls, or cancel the call with this id. */
    asks: v.array(v.object({ seq: count, cancel: v.nullable(v.string()) })),
    /** The last switch of the raw log since the hand-over; null without one. */
    rawLog: v.nullable(switchOfRawLog),
    /** If the newest gateway stops: milliseconds for calls in flight; else null. */
    stopWithinMs: v.nullable(amount),
  }),
)

const isErrorBody = fits(v.object({ error: v.object({ code: v.string(), message: v.string() }) }))

/** The code and message of a refusal. */
export function refusalIn(body: string): { readonly code: string; readonly message: string } {
  return (
    readMessage(body, isErrorBody)?.error ?? { code: 'refused', message: 'it refused, and did not say why' }
  )
}

/** The part of a gateway that the control server uses. */
export interface ControlledGateway {
  status(): ControlStatus
  /** The running calls, with those of replaced gateways. */
  live(): Promise<LiveCalls>
  /** Cancels a call, here or at a replaced gateway. Resolves with false if no call with this id is running. */
  cancel(id: string): Promise<boolean>
  /** Begins an orderly stop, as SIGTERM does. Further calls change nothing. */
  stop(): void
  /** Reads the files of clients and upstreams, and applies them before it returns. */
  reloadFiles(): void
  /** Applies checked options. Rejects, and changes nothing, if gateways that share a limit cannot be reached. */
  setOptions(options: LiveOptions): Promise<void>
  /** Starts a successor, which gets all new calls when it is ready. Never rejects. */
  handOver(order: HandOverOrder): Promise<HandOverAnswer>
  /** Applies the report of a replaced gateway; null if the report is for another gateway. */
  draining(report: DrainReport): DrainAnswer | null
  /** Answers a request under `/raw-log/`, as under `/v1/raw-log/` over HTTP. Never throws. */
  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void
}
