import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { endedRecord, payloadCall } from '../../../test/payloads/imagined-call.ts'
import type { PayloadTap } from '../../call/payload-log.ts'
import { type TapItem, tapItems } from './tap-batch.ts'
import { TapSender } from './tap-sender.ts'

interface Sending {
  readonly sender: TapSender
  readonly items: TapItem[]
  readonly lost: () => number
}

function sending(heldBytesLimit: number): Sending {
  const items: TapItem[] = []
  let lost = 0
  const sender = new TapSender({
    clock: new FakeClock(),
    maxBodyBytes: 1000,
    heldBytesLimit,
    flushAfterMs: 10,
    post: (message) => {
      if (message.kind === 'batch') items.push(...tapItems(message))
    },
    lost: (records) => {
      lost += records
    },
  })
  return { sender, items, lost: () => lost }
}

function chunksOf(items: readonly TapItem[]): readonly number[] | undefined {
  return items.find((item) => item.kind === 'ended')?.chunkOffsetsMs
}

function answer(tap: PayloadTap, contentType: string, pieces: number): void {
  tap.answerHead(200, ['Content-Type', contentType])
  for (let at = 0; at < pieces; at++) tap.answerData(Buffer.from('x'), at)
}

test('the times of pieces are told of event streams alone', () => {
  for (const [contentType, expected] of [
    ['text/event-stream; charset=utf-8', [0, 1]],
    ['application/json', []],
  ] as const) {
    const { sender, items } = sending(2 ** 20)
    const tap = sender.begin(payloadCall({ id: 1 }))!
    answer(tap, contentType, 2)
    tap.ended(endedRecord(1))
    sender.flush()
    assert.deepEqual(chunksOf(items), expected)
  }
})

test('no more than 10,000 of them, and until the call ends they count as held', () => {
  const { sender, items, lost } = sending(150_000)
  const tap = sender.begin(payloadCall({ id: 1 }))!
  answer(tap, 'Text/Event-Stream', 20_000)
  sender.flush()
  const whole = 75_000
  const begin = (): boolean => sender.begin(payloadCall({ id: 2 })) !== null
  for (let at = 0; at < 8; at++)
    sender.acknowledge({ kind: 'taken', bytes: new ArrayBuffer(9375), dropped: 0, heldBytes: whole })
  assert.deepEqual([begin(), lost()], [false, 2])
  tap.ended(endedRecord(1))
  assert.deepEqual([begin(), lost()], [true, 2])
  sender.flush()
  assert.equal(chunksOf(items)?.length, 10_000)
})

test('the request ends once: before the end of the call at the latest, and nothing of it comes after', () => {
  const { sender, items } = sending(2 ** 20)
  const tap = sender.begin(payloadCall({ id: 1 }))!
  tap.ended(endedRecord(1))
  tap.requestEnd(null, false)
  tap.requestData(Buffer.from('late'))
  sender.flush()
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['begin', 'requestEnd', 'ended'],
  )
})

test('what a closed one is shown is lost, and so is what was under way', () => {
  const { sender, lost } = sending(2 ** 20)
  const [one, two] = [1, 2].map((id) => sender.begin(payloadCall({ id }))!)
  one?.requestEnd(null, false)
  sender.flush()
  two?.requestEnd(null, false)
  assert.equal(sender.close(), 2)
  one?.ended(endedRecord(1))
  two?.ended(endedRecord(2))
  assert.equal(lost(), 2)
})
