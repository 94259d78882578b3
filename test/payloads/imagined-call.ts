import { type CallRecord, unknownFields } from '../../src/call/call-record.ts'
import type { Call } from '../../src/call/call.ts'
import type { PayloadCall, PayloadTap } from '../../src/call/payload-log.ts'
import type { PayloadLog } from '../../src/payloads/payload-log.ts'

export interface ImaginedCall {
  readonly id: number
  readonly path?: string
  readonly headers?: readonly string[]
  readonly request?: string
  readonly answer?: string | readonly string[]
  readonly record?: Partial<CallRecord>
}

const requestHeaders = ['Content-Type', 'application/json', 'Host', 'localhost']

export function payloadCall({
  id,
  path = '/v1/chat/completions',
  headers = requestHeaders,
}: ImaginedCall): PayloadCall {
  const call: Call = { ...unknownFields, id, callType: 'chat', endpoint: path, method: 'POST' }
  return { call, path, headers, receivedAtMs: 0 }
}

/** Lets a call pass by a log, from its beginning to its end; answers whether it was tapped. */
export function passBy(log: PayloadLog, imagined: ImaginedCall): boolean {
  const tap = log.begin(payloadCall(imagined))
  if (tap === null) return false
  passThrough(tap, imagined)
  return true
}

export function passThrough(
  tap: PayloadTap,
  { id, request = '{}', answer = '{}', record = {} }: ImaginedCall,
): void {
  if (request.length > 0) tap.requestData(Buffer.from(request))
  tap.requestEnd('gpt', false)
  tap.answerHead(200, ['content-type', typeof answer === 'string' ? 'application/json' : 'text/event-stream'])
  let atMs = 0
  for (const piece of typeof answer === 'string' ? [answer] : answer)
    tap.answerData(Buffer.from(piece), ++atMs)
  tap.ended(endedRecord(id, record))
}

export function endedRecord(id: number, fields: Partial<CallRecord> = {}): CallRecord {
  return {
    id,
    status: 200,
    outcome: 'ok',
    failureCode: null,
    durationMs: 5,
    model: 'gpt',
    stream: false,
    ...fields,
  } as CallRecord
}
