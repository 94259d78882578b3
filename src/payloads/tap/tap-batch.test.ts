import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TapBatch, type TapItem, tapItems } from './tap-batch.ts'

const noData = Buffer.alloc(0)

function itemsOf(batch: TapBatch): TapItem[] {
  return [...tapItems(batch.seal())]
}

const begin = {
  callId: 2 ** 52 + 1,
  wallTimeMs: 1_795_000_000_000,
  method: 'POST',
  path: '/v1/ä?x=1',
  headers: ['A', 'b'],
}
const requestEnd = { wallTimeMs: 5, totalBytes: 7, truncated: true, model: 'modèle\u2028', stream: false }
const ended = {
  ...requestEnd,
  wallTimeMs: 6,
  outcome: 'ok',
  failureCode: null,
  durationMs: 1.25,
  chunkOffsetsMs: [0.5, 12.5],
}

test('what is added comes out, in its order', () => {
  const batch = new TapBatch(new ArrayBuffer(4096))
  batch.addWords('begin', 1, begin)
  batch.addData('requestData', 1, Buffer.from('abc'))
  batch.addWords('requestEnd', 1, requestEnd)
  batch.addWords('answerHead', 2 ** 32 - 1, { status: 200, headers: ['X', 'y'] })
  batch.addData('answerData', 1, Buffer.from('de'))
  batch.addWords('ended', 1, ended)
  assert.deepEqual(itemsOf(batch), [
    { kind: 'begin', tap: 1, ...begin },
    { kind: 'requestData', tap: 1, data: Buffer.from('abc') },
    { kind: 'requestEnd', tap: 1, ...requestEnd },
    { kind: 'answerHead', tap: 2 ** 32 - 1, status: 200, headers: ['X', 'y'] },
    { kind: 'answerData', tap: 1, data: Buffer.from('de') },
    { kind: 'ended', tap: 1, ...ended },
  ] satisfies TapItem[])
})

test('data that find no room go on in the next batch', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ size: 'max', maxLength: 500 }),
      fc.integer({ min: 20, max: 80 }),
      (data, room) => {
        const items: TapItem[] = []
        for (let start = 0; start < data.length;) {
          const batch = new TapBatch(new ArrayBuffer(room))
          start += batch.addData('answerData', 3, data.subarray(start))
          assert.ok(start === data.length || batch.isFull)
          items.push(...itemsOf(batch))
        }
        const got = Buffer.concat(items.map((item) => (item.kind === 'answerData' ? item.data : noData)))
        assert.deepEqual(got, Buffer.from(data))
      },
    ),
  )
})

test('it is full of words as it is of data', () => {
  const batch = new TapBatch(new ArrayBuffer(1000))
  let added = 0
  for (; !batch.isFull; added++) batch.addWords('begin', 1, begin)
  assert.ok(added > 1 && added < 20, `${added}`)
})
