import type { CallStart } from '../../call/call.ts'
import { type NamedField, storedFields } from '../../call/call-fields.ts'
import { type StoredCall, unknownFields } from '../../call/call-record.ts'
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
  if (!isText(instance) || !isWhole(pid) || !(bootId === null || isText(bootId))) return null
  if (!(startTicks === null || isWhole(startTicks)) || !(number === null || isWhole(number))) return null
  return { instance, pid, startTicks, bootId, number }
}

/** One call as a JSON array: without names it takes half the bytes and half the time. */
export function startLine(start: CallStart): string {
  return `${JSON.stringify([
    start.id,
    start.callType,
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
    start.sessionSource,
    start.tags,
  ])}\n`
}

/** The call of a line; `null` for one that was torn, or is none. */
export function parseStart(line: string): CallStart | null {
  const values = arrayIn(line)
  // A gateway of an earlier version, which may be the predecessor, wrote neither the last nor the one before.
  if (values === null || (values.length !== 15 && values.length !== 13)) return null
  const [id, callType, endpoint, method, stream, upstream, requestBytes] = values
  const [model, client, userAgent, session, keyFingerprint, clientRetry] = values.slice(7)
  const [sessionSource = null, tags = null] = values.slice(13)
  const who = { client, userAgent, session, keyFingerprint, clientRetry, sessionSource, tags }
  const known = { id, callType, endpoint, method, stream, upstream, requestBytes, model, ...who }
  const call: Readonly<Record<string, unknown>> = known
  const isCall = isWhole(id) && storedFields.every((field) => !(field.record in call) || mayHold(field, call))
  return isCall ? (call as unknown as CallStart) : null
}

const endMark = 'ended'

/** A call that has ended and is not yet a row: all that its row will hold. */
export function endLine(call: StoredCall): string {
  return `${JSON.stringify([endMark, call])}\n`
}

/** The ended call of a line; `null` for one that was torn, or is none. */
export function parseEnd(line: string): StoredCall | null {
  const fields = arrayIn(line)
  if (fields?.length !== 2 || fields[0] !== endMark) return null
  const [, ended] = fields
  if (typeof ended !== 'object' || ended === null) return null
  // An earlier version wrote fewer fields.
  const call: Readonly<Record<string, unknown>> = { ...unknownFields, ...ended }
  const isCall = isWhole(call['id']) && storedFields.every((field) => mayHold(field, call))
  return isCall ? (call as unknown as StoredCall) : null
}

/** Whether a record's value of a field is one that the field can have. */
function mayHold(
  { kind, codes = {}, required, record }: NamedField,
  call: Readonly<Record<string, unknown>>,
): boolean {
  const value = call[record]
  if (value === null) return required !== true
  if (kind === 'flag') return typeof value === 'boolean'
  if (kind === 'time' || kind === 'count' || kind === 'cost') return typeof value === 'number'
  return isText(value) && (kind !== 'code' || Object.hasOwn(codes, value))
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

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
