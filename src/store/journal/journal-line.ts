import type { CallStart, CallType } from '../../call/call.ts'
import { callTypeCodes, outcomeCodes, usageSourceCodes } from '../sqlite/call-codes.ts'
import type { StoredCall } from '../sqlite/call-columns.ts'
import type { ProcessIdentity } from '../../lib/process-identity.ts'

/** The journal's first line: whose it is. */
export interface JournalHeader extends ProcessIdentity {
  readonly instance: string
  /** By whose lock it is known whether that instance has ended; null if it held none, and its process has to tell. */
  readonly number: number | null
}

const format = 'tokenweir-inflight-1'

export function headerLine(header: JournalHeader): string {
  const { instance, pid, startTicks, bootId, number } = header
  return `${JSON.stringify([format, instance, pid, startTicks, bootId, number])}\n`
}

export function parseHeader(line: string): JournalHeader | null {
  const fields = arrayIn(line)
  if (fields === null || fields[0] !== format) return null
  // The first version wrote no number.
  const [, instance, pid, startTicks, bootId, number = null] = fields
  if (!isText(instance) || !isNumber(pid) || !isNumberOrNull(startTicks) || !isTextOrNull(bootId)) return null
  return isNumberOrNull(number) ? { instance, pid, startTicks, bootId, number } : null
}

/** One call as a JSON array: without names it takes half the bytes and half the time. */
export function startLine(start: CallStart): string {
  return `${JSON.stringify([
    start.id,
    start.type,
    start.endpoint,
    start.method,
    start.stream,
    start.upstream,
    start.requestBytes,
    start.model,
    start.client,
    start.userAgent,
    start.session,
    start.keyFingerprint,
    start.clientRetry,
  ])}\n`
}

/** The call of a line; `null` for one that was torn, or is none. */
export function parseStart(line: string): CallStart | null {
  const fields = arrayIn(line)
  if (fields?.length !== 13) return null
  const [id, type, endpoint, method, stream, upstream, requestBytes] = fields
  const [model, client, userAgent, session, keyFingerprint, clientRetry] = fields.slice(7)
  if (!isNumber(id) || !isCallType(type) || !isText(endpoint) || !isText(method)) return null
  if (typeof stream !== 'boolean' || !isText(upstream) || !isNumber(requestBytes)) return null
  if (!isTextOrNull(model) || !isTextOrNull(client) || !isTextOrNull(userAgent)) return null
  if (!isTextOrNull(session) || !isTextOrNull(keyFingerprint) || !isNumberOrNull(clientRetry)) return null
  const known = { id, type, endpoint, method, stream, upstream, requestBytes, model }
  return { ...known, client, userAgent, session, keyFingerprint, clientRetry }
}

const endMark = 'ended'

/** A call that has ended and is not yet a row: all that its row will hold. */
export function endLine(call: StoredCall): string {
  return `${JSON.stringify([endMark, call])}\n`
}

export function isEndLine(line: string): boolean {
  return line.startsWith(`["${endMark}"`)
}

/** The ended call of a line; `null` for one that was torn, or is none. */
export function parseEnd(line: string): StoredCall | null {
  const fields = arrayIn(line)
  if (fields?.length !== 2 || fields[0] !== endMark) return null
  const [, call] = fields
  if (typeof call !== 'object' || call === null || !Object.values(call).every(isScalar)) return null
  const { id, callType, outcome, usageSource, endpoint, method, instance, attempts } = call as Partial<
    Record<keyof StoredCall, unknown>
  >
  const isWhole =
    isNumber(id) &&
    isCallType(callType) &&
    isText(outcome) &&
    Object.hasOwn(outcomeCodes, outcome) &&
    isText(usageSource) &&
    Object.hasOwn(usageSourceCodes, usageSource) &&
    isText(endpoint) &&
    isText(method) &&
    isText(instance) &&
    isNumber(attempts)
  return isWhole ? (call as StoredCall) : null
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function arrayIn(line: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(line)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value)
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || isNumber(value)
}

function isCallType(value: unknown): value is CallType {
  return isText(value) && Object.hasOwn(callTypeCodes, value)
}
