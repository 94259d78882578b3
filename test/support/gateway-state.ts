import { setTimeout as delay } from 'node:timers/promises'
import type { GatewayProcess } from './gateway-process.ts'
import { type JsonRecord, asRecord } from './json-record.ts'

const waitLimitMs = 30_000
const pollMs = 20

/** Calls at a gateway, as its health report tells. */
export interface CallsAtGateway {
  /** Calls that hold a slot. */
  readonly active: number
  readonly queued: number
}

/** Asks for the health report until it is as wanted, and answers it. */
export async function untilHealth(
  gateway: GatewayProcess,
  what: string,
  holds: (health: JsonRecord) => boolean,
  limitMs: number = waitLimitMs,
): Promise<JsonRecord> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const health = await gateway.health()
    if (holds(health)) return health
    if (performance.now() > deadline) {
      throw new Error(`waited ${limitMs} ms in vain until ${what}: ${JSON.stringify(health)}`)
    }
    await delay(pollMs)
  }
}

/** Waits until so many calls hold slots and so many wait. */
export async function untilCalls(gateway: GatewayProcess, wanted: CallsAtGateway): Promise<void> {
  const { active, queued } = wanted
  await untilHealth(gateway, `${active} calls are active and ${queued} wait`, (health) => {
    const seen = asRecord(health['rate_limiter'])
    return seen['active'] === active && seen['queued'] === queued
  })
}

/** Waits until no call holds a slot and none waits. */
export function untilIdle(gateway: GatewayProcess): Promise<void> {
  return untilCalls(gateway, { active: 0, queued: 0 })
}

/** Waits until so many rows are written in all, and nothing is pending. */
export async function untilRecorded(gateway: GatewayProcess, count: number, limitMs?: number): Promise<void> {
  await untilHealth(
    gateway,
    `${count} calls are recorded`,
    (health) => {
      const telemetry = asRecord(health['telemetry'])
      return Number(telemetry['written']) >= count && telemetry['pending'] === 0
    },
    limitMs,
  )
}

/** Waits until what was used before the start is known; a busy machine is warned until then. */
export async function untilPastIsRead(gateway: GatewayProcess): Promise<void> {
  await untilHealth(
    gateway,
    'the past is read',
    (health) => asRecord(health['token_budget'])['known'] === true,
  )
}

/** Waits until there is a warning whose code and message, `code: message`, match; answers what it says. */
export async function untilWarned(gateway: GatewayProcess, pattern: RegExp): Promise<string> {
  let found: string | undefined
  await untilHealth(gateway, `a warning like ${pattern}`, ({ warnings }) => {
    const told = (warnings as readonly { code: string; message: string }[]).map(
      ({ code, message }) => `${code}: ${message}`,
    )
    found = told.find((text) => pattern.test(text))
    return found !== undefined
  })
  return found ?? ''
}

/** What it has complained of, but for what a busy machine is told: that the past is read late. */
export function complaintsOf({ stderr }: Pick<GatewayProcess, 'stderr'>): string {
  return stderr.replace(/^.*warning: the tokens used in the last 24 hours could not be read.*\n/m, '')
}
