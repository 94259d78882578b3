import assert from 'node:assert/strict'
import { type CallRecord, unknownFields } from '../../src/call/call-record.ts'
import type { Call } from '../../src/call/call.ts'
import type { PayloadCall, PayloadCopy } from '../../src/call/payload-port.ts'
import type { RawLog } from '../../src/payloads/raw-log.ts'

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
  return { call, path, headers, receivedAtMs: 0, onFault: assert.ifError }
}

/** Lets a call pass by a log, from its beginning to its end; answers whether it was copied. */
export function passBy(log: RawLog, imagined: ImaginedCall): boolean {
  const copy = log.begin(payloadCall(imagined))
  if (copy === null) return false
  passThrough(copy, imagined)
  return true
}

export function passThrough(
  copy: PayloadCopy,
  { id, request = '{}', answer = '{}', record = {} }: ImaginedCall,
): void {
  if (request.length > 0) copy.requestData(Buffer.from(request))
  copy.requestEnd('gpt', false)
  copy.answerHead(200, [
    'content-type',
    typeof answer === 'string' ? 'application/json' : 'text/event-stream',
  ])
  for (const piece of typeof answer === 'string' ? [answer] : answer) copy.answerData(Buffer.from(piece))
  copy.ended(endedRecord(id, record))
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
