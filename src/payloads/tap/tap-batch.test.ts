import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TapBatch, type TapItem, tapItems } from './tap-batch.ts'

const begin = {
  callId: 2 ** 52 + 1,
  wallTimeMs: 1_795_000_000_000,
  method: 'POST',
  path: '/v1/ä?x=1',
  headers: ['A', 'b'],
}
const requestEnd = { wallTimeMs: 5, totalBytes: 7, truncated: true, model: 'modèle\u2028', stream: false }
const ended = {
  wallTimeMs: 6,
  totalBytes: 8,
  truncated: false,
  outcome: 'ok',
  failureCode: null,
  durationMs: 1.25,
}

test('what is added comes out, in its order', () => {
  const batch = new TapBatch(new ArrayBuffer(4096))
  assert.equal(batch.isEmpty, true)
  batch.addWords('begin', 1, begin)
  batch.addData('requestData', 1, Buffer.from('abc'), 0, 0)
  batch.addWords('requestEnd', 1, requestEnd)
  batch.addWords('answerHead', 2 ** 32 - 1, { status: 200, headers: ['X', 'y'] })
  batch.addData('answerData', 1, Buffer.alloc(0), 0, 12.5)
  batch.addWords('ended', 1, ended)
  assert.equal(batch.isEmpty, false)
  const { bytes, length, texts } = batch.seal()
  assert.deepEqual([...tapItems(bytes, length, texts)], [
    { kind: 'begin', tap: 1, ...begin },
    { kind: 'requestData', tap: 1, data: Buffer.from('abc'), offsetMs: 0 },
    { kind: 'requestEnd', tap: 1, ...requestEnd },
    { kind: 'answerHead', tap: 2 ** 32 - 1, status: 200, headers: ['X', 'y'] },
    { kind: 'answerData', tap: 1, data: Buffer.alloc(0), offsetMs: 12.5 },
    { kind: 'ended', tap: 1, ...ended },
  ] satisfies TapItem[])
})

test('data that find no room go on in the next batch', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ size: 'max', maxLength: 500 }),
      fc.integer({ min: 20, max: 80 }),
      (data, room) => {
        const batches: TapItem[] = []
        let batch = new TapBatch(new ArrayBuffer(room))
        for (let start = 0, isOver = false; !isOver;) {
          const end = batch.addData('answerData', 3, data, start, start)
          if (end >= 0) start = end
          isOver = end === data.length
          if (isOver) break
          const { bytes, length, texts } = batch.seal()
          batches.push(...tapItems(bytes, length, texts))
          batch = new TapBatch(new ArrayBuffer(room))
        }
        const { bytes, length, texts } = batch.seal()
        batches.push(...tapItems(bytes, length, texts))
        const got = Buffer.concat(
          batches.map((item) => (item.kind === 'answerData' ? item.data : Buffer.alloc(0))),
        )
        assert.deepEqual(got, Buffer.from(data))
      },
    ),
  )
})
