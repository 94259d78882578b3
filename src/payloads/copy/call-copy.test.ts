import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { endedRecord, payloadCall } from '../../../test/payloads/imagined-call.ts'
import type { PayloadCopy } from '../../call/payload-port.ts'
import { type SentRecord, recordsOf } from '../payload-messages.ts'
import { CallCopy } from './call-copy.ts'
import type { Keeping } from './capture-rule.ts'
import { RecordSender } from './record-sender.ts'

function sending(heldBytesLimit = 2 ** 20) {
  const records: SentRecord[] = []
  let lost = 0
  const clock = new FakeClock()
  const sender = new RecordSender({
    clock,
    maxBodyBytes: 100_000,
    heldBytesLimit,
    flushAfterMs: 10,
    post: (message) => {
      if (message.kind === 'batch') records.push(...recordsOf(message))
    },
    onLost: (count) => {
      lost += count
    },
  })
  const copy = (id: number, keeping: Keeping = 'always'): CallCopy =>
    new CallCopy(sender, payloadCall({ id }), keeping)
  return { clock, sender, records, lost: () => lost, copy }
}

function chunksOf(records: readonly SentRecord[]): readonly number[] | undefined {
  return records.find((record) => record.kind === 'answer')?.chunkOffsetsMs
}

function answer(copy: PayloadCopy, contentType: string, pieces: number): void {
  copy.answerHead(200, ['Content-Type', contentType])
  for (let at = 0; at < pieces; at++) copy.answerData(Buffer.from('x'))
}

test('two records are made of pieces, though a request ends after its answer has begun', () => {
  const { sender, records, copy } = sending()
  const call = copy(77)
  call.requestData(Buffer.from('ab'))
  call.answerHead(201, ['Content-Type', 'text/plain'])
  call.answerData(Buffer.from('one'))
  call.requestData(Buffer.from('cd'))
  call.requestEnd('modèle\u2028', true)
  call.answerData(Buffer.from('two'))
  call.ended(endedRecord(77, { model: 'm', stream: true, outcome: 'upstream_cut', durationMs: 2.5 }))
  sender.flush()
  const [request, answered] = records
  assert.ok(request?.kind === 'request' && answered?.kind === 'answer')
  const { callId, method, model, keeping, headers } = request
  assert.deepEqual([callId, method, model, keeping], [77, 'POST', 'modèle\u2028', 'always'])
  assert.deepEqual([request.bytes.toString(), request.totalBytes, request.truncated], ['abcd', 4, false])
  assert.deepEqual(headers, payloadCall({ id: 77 }).headers)
  assert.deepEqual(answered.headers, ['Content-Type', 'text/plain'])
  assert.deepEqual([answered.bytes.toString(), answered.status, answered.model], ['onetwo', 201, 'm'])
  assert.deepEqual([answered.outcome, answered.durationMs], ['upstream_cut', 2.5])
})

test('of an event stream alone times of pieces are recorded, 10,000 at most, which count as held until its call ends', () => {
  const { sender, records, copy } = sending(95_000)
  const call = copy(1)
  answer(call, 'Text/Event-Stream; charset=utf-8', 20_000)
  sender.flush()
  assert.equal(sender.hasRoom, false)
  call.ended(endedRecord(1))
  sender.flush()
  sender.acknowledge()
  sender.acknowledge()
  assert.equal(sender.hasRoom, true)
  assert.equal(chunksOf(records)?.length, 10_000)
  answer(copy(2), 'application/json', 20_000)
  sender.flush()
  assert.equal(sender.hasRoom, true)
})

for (const [keeping, isHeld] of [
  ['always', false],
  ['if_failed', true],
] as const) {
  test(`a request that is kept ${keeping} ${isHeld ? 'counts' : 'does not count'} as held until its call ends`, () => {
    const { sender, copy } = sending(100_000)
    const call = copy(1, keeping)
    call.requestData(Buffer.alloc(70_000))
    call.requestEnd(null, false)
    sender.flush()
    sender.acknowledge()
    assert.equal(sender.hasRoom, !isHeld)
    call.ended(endedRecord(1))
    sender.flush()
    sender.acknowledge()
    assert.equal(sender.hasRoom, true)
  })
}

test('the request ends once: with the call at the latest, and nothing is added to it later', () => {
  const { sender, records, copy } = sending()
  const call = copy(1)
  call.ended(endedRecord(1))
  call.requestEnd(null, false)
  call.requestData(Buffer.from('late'))
  sender.flush()
  assert.equal(records.map(({ kind }) => kind).join(' '), 'request answer')
})

test('a fault ends the copy, is reported once, and gives its memory back', () => {
  const { sender, records } = sending(100_000)
  const faults: unknown[] = []
  const call = { ...payloadCall({ id: 1 }), onFault: (error: unknown) => faults.push(error) }
  const copy = new CallCopy(sender, call, 'always')
  copy.requestData(Buffer.alloc(70_000))
  const fault = new Error('no memory')
  sender.roomFor = () => {
    throw fault
  }
  copy.requestData(Buffer.alloc(1))
  copy.answerData(Buffer.alloc(1))
  copy.ended(endedRecord(1))
  sender.flush()
  assert.deepEqual([faults, records, sender.hasRoom], [[fault], [], true])
})
