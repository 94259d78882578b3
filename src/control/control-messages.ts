/** The messages between gateways, and between a gateway and a dashboard: each one's shape, and from it its type. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HealthReport } from '../api/health-report.ts'
import type { GatewayCrash } from '../api/process-status.ts'
import { LiveCalls } from '../api/live-calls.ts'
import type { SettingValue } from '../api/proxy-config.ts'
import { fits } from '../options/schema.ts'
import type { MinuteUsage } from '../call/call-sink.ts'
import {
  type MessageOf,
  type Shapes,
  either,
  isAmount,
  isCount,
  isFlag,
  isNumber,
  isObject,
  isText,
  isWhole,
  listOf,
  mapOf,
  nullable,
  optional,
  readMessage,
  record,
} from '../lib/message-shape.ts'
import type { ProcessIdentity } from '../lib/process-identity.ts'

/** 0 and negative numbers would stand for whole groups of processes, 1 for the system's first. */
const isPid = isWhole(2)
/** The last minute that a gateway of an earlier version could hold. */
const maxMinute = 2 ** 31 - 1

/** Strict, because a process may be killed on its word. */
export const identity: Shapes<ProcessIdentity> = {
  pid: isPid,
  startTicks: nullable(isCount),
  bootId: nullable(isText),
}
const isIdentity = record(identity)
export const isPort = isWhole(0, 65_535)
export const isMinuteUsage = record<MinuteUsage>({
  minute: isWhole(0, maxMinute),
  tokens: isAmount,
  estimated: optional(isAmount),
  owners: optional(listOf(isText)),
})

/** The members that are shown or decide something; a page takes all others as they are. */
const isHealth = record({
  upstream: isText,
  db: isText,
  pid: isCount,
  instance: isText,
  uptime_s: isNumber,
  rate_limiter: record({
    max_concurrent: isNumber,
    active: isNumber,
    queued: isNumber,
    total_admitted: isNumber,
  }),
  token_budget: record({ daily_limit: isNumber, percentage_used: isNumber }),
  telemetry: isObject,
  warnings: listOf(record({ code: isText, message: isText })),
})

export function isHealthReport(value: unknown): value is HealthReport {
  return isHealth(value)
}

/** A gateway that was replaced and finishes its calls. */
export type PredecessorGateway = MessageOf<typeof isPredecessorGateway>

const isPredecessorGateway = record({
  pid: isPid,
  instance: isText,
  /** In flight, or waiting. */
  calls: isCount,
})

const isOptions = (value: unknown): value is Readonly<Record<string, SettingValue | readonly string[]>> =>
  isObject(value)

/** The crash after which a gateway was started. */
export const isGatewayCrash = record<GatewayCrash>({
  pid: isPid,
  at: isText,
  exit_code: nullable(isCount),
  signal: nullable(isText),
  in_a_row: isCount,
})

/** A gateway's answer to `GET /status` on its control socket. */
export type ControlStatus = MessageOf<typeof isControlStatus>

export const isControlStatus = record({
  identity: isIdentity,
  instance: isText,
  version: isText,
  host: isText,
  /** The port it got, also if any free one was asked for. */
  port: isPort,
  /** ISO 8601, UTC. */
  started_at: isText,
  draining: isFlag,
  drain_timeout_ms: isAmount,
  /** The options in force by their setting names (`max_concurrent`), with changes made since the start. */
  options: isOptions,
  health: isHealthReport,
  /** Gateways that this one has taken over from, and that still finish calls. */
  predecessors: optional(listOf(isPredecessorGateway)),
  /** A dashboard started it, or the gateway before it did: nothing else looks after it. */
  supervised: optional(isFlag),
  /** The crash after which it was started. */
  crash: optional(nullable(isGatewayCrash)),
})

export const isLiveCalls = fits(LiveCalls)

/** A gateway's answer to `POST /calls/{id}/cancel`. */
export const isCancelAnswer = record({ cancelled: isFlag })

/** Options that change in a running gateway: the body of `POST /options`. */
export interface LiveOptions {
  readonly queue_order?: string
  readonly max_concurrent?: number
  readonly slot_cooldown_ms?: number
  readonly token_limit?: number
  readonly keep_days?: number
  readonly keep_mb?: number
  /** Whether payloads are kept, until further notice. */
  readonly raw_log?: boolean
}

/** With what a gateway is to start its successor: the body of `POST /hand-over`. */
export type HandOverOrder = MessageOf<typeof isHandOverOrder>

export const isHandOverOrder = record({
  /** The program and its first arguments. */
  command: listOf(isText),
  args: listOf(isText),
  /** The whole environment: nothing of the present gateway's own is passed on. */
  env: mapOf(isText),
  cwd: isText,
  /** What the successor prints is appended to this file. */
  log_file: isText,
  /** How long it may take to be ready. */
  limit_ms: isAmount,
})

/** The outcome of a hand-over. If there is no successor, the gateway serves on as before. */
export type HandOverAnswer = MessageOf<typeof isHandOverAnswer>

export const isHandOverAnswer = either(
  record({ successor: record({ pid: isPid }) }),
  /** The code is a {@link HandOverFailure}; that of another version may be a further one. */
  record({ failed: isText, code: isText }),
)

/**
 * - `busy`: it is stopping, or hands over already.
 * - `port_in_use`: the successor could not have its new port.
 * - `not_up`: the successor ended, or was not ready in time.
 */
export type HandOverFailure = 'busy' | 'port_in_use' | 'not_up'

/** The state in which the payload log is to go on. */
export type RawLogSwitch = MessageOf<typeof isRawLogSwitch>

export const rawLogSwitch = {
  enabled: isFlag,
  /** When it switches itself off, in ms since the Unix epoch; null for until further notice. */
  untilMs: nullable(isNumber),
}

const isRawLogSwitch = record(rawLogSwitch)

/** A gateway that was replaced, and tokens that its calls in flight may still use. */
export type PredecessorClaim = MessageOf<typeof isPredecessorClaim>

export const claim = { instance: isText, identity: isIdentity, reserved: isAmount }

export const isPredecessorClaim = record(claim)

const isSlotsOfClient = record({ of: isText, slots: isCount })

/** The slots of one upstream in a gateway that was replaced. */
export type KeptByPredecessor = MessageOf<typeof isKeptByPredecessor>

const isKeptByPredecessor = record({
  /** The upstream's. */
  name: isText,
  /** Its limit there. */
  max: isCount,
  /** The gateway uses no more slots than these. */
  holding: isCount,
  /** Its calls use, or wait for, so many. */
  wants: isCount,
  /** The calls of clients with a limit of their own, also those that wait for others of the same client. */
  clients: listOf(isSlotsOfClient),
})

/** What a gateway answers its successor that asks about its calls: all of them, or whether one was cancelled. */
export type CallsAnswer = MessageOf<typeof isCallsAnswer>

const isCallsAnswer = record({ seq: isCount, live: isLiveCalls, cancelled: isFlag })

/** What a gateway that is replaced has counted of a limit a minute. */
export type HandedLimit = MessageOf<typeof isHandedLimit>

export const isHandedLimit = record({
  key: isText,
  /** The limit itself, if it was learned of a provider. */
  learned: nullable(isAmount),
  /** Ages in milliseconds and amounts, the oldest first. */
  taken: listOf(listOf(isNumber)),
  /** Calls wait for it there. */
  isAwaited: isFlag,
})

/** The same of what it has taken since its last report. */
export type LimitReport = MessageOf<typeof isLimitReport>

const isLimitReport = record({ key: isText, more: isNumber, isAwaited: isFlag })

/** The body of `POST /draining`, by which a gateway that was replaced tells its successor how it is. */
export type DrainReport = MessageOf<typeof isDrainReport>

export const isDrainReport = record({
  ...claim,
  /** In flight, or waiting. */
  calls: isCount,
  slots: listOf(isKeptByPredecessor),
  /** Tokens of calls that ended since the last report that was answered, by the minute of their end. */
  used: listOf(isMinuteUsage),
  /** Tokens that its own budget counts as used. */
  counted: isAmount,
  /** Of each limit a minute. */
  minutes: listOf(isLimitReport),
  /** To what the successor has asked. */
  answers: listOf(isCallsAnswer),
  /** The gateway has no calls any more, and ends. */
  isLast: isFlag,
})

/** The answer to it. */
export type DrainAnswer = MessageOf<typeof isDrainAnswer>

export const isDrainAnswer = record({
  slots: listOf(
    record({
      name: isText,
      /** The slots that the gateway may use from now on: those that it holds, and perhaps more. */
      holding: isCount,
      /** The slots that gateways before it need of clients with a limit; null while that is not known. */
      clients: nullable(listOf(isSlotsOfClient)),
    }),
  ),
  /** Tokens that others may still use, or have used unknown to this gateway. */
  taken: isAmount,
  /** Asks for its calls, or to cancel the one of this id. */
  asks: listOf(record({ seq: isCount, cancel: nullable(isText) })),
  /** How the payload log was switched since the hand-over; null if it was not. */
  rawLog: nullable(isRawLogSwitch),
  /** The whole gateway stops, and what is in flight has so long; null if it does not stop. */
  stopWithinMs: nullable(isAmount),
})

const isErrorBody = record({ error: record({ code: isText, message: isText }) })

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
  lookAtFiles(): void
  /** The values are checked already. Rejects, and changes nothing, where gateways that share one cannot be told. */
  setOptions(options: LiveOptions): Promise<void>
  /** Starts a successor, and once that is ready leaves everything new to it. Never rejects. */
  handOver(order: HandOverOrder): Promise<HandOverAnswer>
  /** A gateway that this one has taken over from reports; null if its reports are for another gateway. */
  draining(report: DrainReport): DrainAnswer | null
  /** Answers what is asked under `/raw-log/`, as under `/v1/raw-log/` over HTTP. Never throws. */
  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void
}
