/** What each message between gateways, and between a gateway and a dashboard, must hold. */
import type { ErrorBody } from '../api/error-body.ts'
import type { LiveCall, LiveCalls } from '../api/live-calls.ts'
import type { HealthReport } from '../api/health-report.ts'
import type { MinuteUsage } from '../call/call-sink.ts'
import type { ProcessIdentity } from '../lib/process-identity.ts'
import {
  type Shape,
  either,
  isAmount,
  isCount,
  isFlag,
  isNumber,
  isObject,
  isOneOf,
  isText,
  isWhole,
  listOf,
  mapOf,
  nullable,
  optional,
  readMessage,
  record,
} from '../lib/message-shape.ts'
import type {
  ControlStatus,
  DrainOrder,
  DrainReport,
  PredecessorClaim,
  PredecessorGateway,
  HandOverAnswer,
  HandOverOrder,
  RawLogSwitch,
} from './control-messages.ts'

/** 0 and negative numbers would stand for whole groups of processes, 1 for the system's first. */
const isPid = isWhole(2)
/** The last minute that the budget's buckets can hold. */
const maxMinute = 2 ** 31 - 1

/** Strict, because a process may be killed on its word. */
export const isIdentity: Shape<ProcessIdentity> = record<ProcessIdentity>({
  pid: isPid,
  startTicks: nullable(isCount),
  bootId: nullable(isText),
})
export const isPort: Shape<number> = isWhole(0, 65_535)
export const isMinuteUsage: Shape<MinuteUsage> = record<MinuteUsage>({
  minute: isWhole(0, maxMinute),
  tokens: isAmount,
  estimated: optional(isAmount),
})
export const isRawLogSwitch: Shape<RawLogSwitch> = record<RawLogSwitch>({
  enabled: isFlag,
  untilMs: nullable(isNumber),
})

/** What is shown of it and decided by; a page takes what else there is as it is. */
const healthShape = record<
  Pick<HealthReport, 'upstream' | 'db' | 'pid' | 'instance' | 'uptime_s' | 'warnings'> & {
    readonly rate_limiter: Pick<
      HealthReport['rate_limiter'],
      'max_concurrent' | 'active' | 'queued' | 'total_admitted'
    >
    readonly token_budget: Pick<HealthReport['token_budget'], 'daily_limit' | 'percentage_used'>
    readonly telemetry: object
  }
>({
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
  return healthShape(value)
}

export const isControlStatus: Shape<ControlStatus> = record<ControlStatus>({
  identity: isIdentity,
  instance: isText,
  version: isText,
  host: isText,
  port: isPort,
  started_at: isText,
  draining: isFlag,
  drain_timeout_ms: isAmount,
  options: (value): value is ControlStatus['options'] => isObject(value),
  health: isHealthReport,
  predecessors: optional(
    listOf(record<PredecessorGateway>({ pid: isPid, instance: isText, calls: isCount })),
  ),
})

export const isLiveCalls: Shape<LiveCalls> = record<LiveCalls>({
  calls: listOf(
    record<LiveCall>({
      id: isText,
      started_at: isText,
      method: isText,
      path: isText,
      model: nullable(isText),
      state: isOneOf(['receiving', 'waiting', 'running', 'backing_off']),
    }),
  ),
  more: isCount,
})

export const isHandOverOrder: Shape<HandOverOrder> = record<HandOverOrder>({
  command: listOf(isText),
  args: listOf(isText),
  env: mapOf(isText),
  cwd: isText,
  log_file: isText,
  limit_ms: isAmount,
})

export const isHandOverAnswer: Shape<HandOverAnswer> = either(
  record<{ readonly successor: { readonly pid: number } }>({ successor: record({ pid: isPid }) }),
  record<{ readonly failed: string; readonly code: string }>({ failed: isText, code: isText }),
)

const isPredecessorClaim = record<PredecessorClaim>({
  instance: isText,
  identity: isIdentity,
  slots: isCount,
  reserved: optional(isAmount),
})

export const isDrainReport: Shape<DrainReport> = record<DrainReport>({
  instance: isText,
  identity: isIdentity,
  slots: record({ seq: isCount, slots: isCount, active: isCount, wanted: isCount }),
  used: listOf(isMinuteUsage),
  reserved: optional(isAmount),
  counted: optional(isAmount),
  predecessors: listOf(isPredecessorClaim),
})

export const isDrainOrder: Shape<DrainOrder> = either(
  either(
    record<{ readonly grant: { readonly seq: number; readonly slots: number } }>({
      grant: record({ seq: isCount, slots: isCount }),
    }),
    record<{ readonly stopWithinMs: number }>({ stopWithinMs: isAmount }),
  ),
  either(
    either(
      record<{ readonly taken: number }>({ taken: isAmount }),
      record<{ readonly moved: true }>({ moved: isOneOf([true]) }),
    ),
    record<{ readonly rawLog: RawLogSwitch }>({ rawLog: isRawLogSwitch }),
  ),
)

const isErrorBody = record<{ readonly error: Pick<ErrorBody['error'], 'code' | 'message'> }>({
  error: record({ code: isText, message: isText }),
})

/** Why a gateway refused, out of its answer's body. */
export function refusalIn(body: string): { readonly code: string; readonly message: string } {
  return (
    readMessage(body, isErrorBody)?.error ?? { code: 'refused', message: 'it refused, and did not say why' }
  )
}
