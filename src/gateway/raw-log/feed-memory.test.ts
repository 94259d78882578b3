import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FeedMemory, type FeedPlace } from './feed-memory.ts'

const start: FeedPlace = { event: 0, records: 0 }

/** What a reader at this place is given, by the records' seqs; of other events, null. */
function readFrom(memory: FeedMemory, place: FeedPlace): (number | null)[] {
  const read: (number | null)[] = []
  for (let { event } = place; event < memory.end.event; event++) {
    const frame = memory.at({ event, records: 0 })
    assert.ok(frame !== null)
    read.push(frame.seq)
  }
  return read
}

test('what was added is read in order, and nothing is beyond the end', () => {
  const memory = new FeedMemory(10_000)
  for (const seq of [null, 5, null, 6]) memory.add({ seq, bytes: Buffer.alloc(10) })
  assert.deepEqual(readFrom(memory, start), [null, 5, null, 6])
  assert.deepEqual(memory.end, { event: 4, records: 2 })
  assert.equal(memory.at(memory.end), null)
})

test('a reader that comes back goes on behind the record that it has seen', () => {
  const memory = new FeedMemory(10_000)
  for (const seq of [null, 5, null, 6, 9, null]) memory.add({ seq, bytes: Buffer.alloc(10) })
  const resume = (seq: number): [(number | null)[], boolean, number] => {
    const { place, isWhole } = memory.resume(seq)
    return [readFrom(memory, place), isWhole, place.records]
  }
  assert.deepEqual(resume(5), [[null, 6, 9, null], true, 1])
  assert.deepEqual(resume(6), [[9, null], true, 2])
  assert.deepEqual(resume(9), [[null], true, 3])
  // Of another process, or older than what is remembered.
  assert.deepEqual(resume(7), [[9, null], false, 2])
  assert.deepEqual(resume(10), [[null], false, 3])
  assert.deepEqual(resume(4), [[null, 5, null, 6, 9, null], false, 0])
})

test('a reader that has seen what was let go of last misses nothing', () => {
  const memory = new FeedMemory(700)
  for (let seq = 1; seq <= 10; seq++) memory.add({ seq, bytes: Buffer.alloc(50) })
  const { event } = memory.first
  assert.ok(event > 0)
  assert.deepEqual(memory.resume(event), { place: memory.first, isWhole: true })
  assert.deepEqual(memory.resume(event - 1), { place: memory.first, isWhole: false })
})

test('cleared, it remembers nothing, and places go on', () => {
  const memory = new FeedMemory(10_000)
  for (const seq of [1, null, 2]) memory.add({ seq, bytes: Buffer.alloc(10) })
  memory.clear()
  assert.deepEqual([memory.first, memory.end], [memory.end, { event: 3, records: 2 }])
  assert.deepEqual(memory.resume(2), { place: memory.end, isWhole: false })
  memory.add({ seq: 3, bytes: Buffer.alloc(1) })
  assert.deepEqual(readFrom(memory, memory.first), [3])
})

test('whatever is added: the newest events are kept within the bound, and every record is counted', () => {
  const event = fc.record({ isRecord: fc.boolean(), size: fc.nat(300) })
  fc.assert(
    fc.property(
      fc.array(event, { size: 'max', maxLength: 3000 }),
      fc.integer({ min: 500, max: 100_000 }),
      (events, limit) => {
        const memory = new FeedMemory(limit)
        const added: (number | null)[] = []
        let records = 0
        for (const { isRecord, size } of events) {
          const seq = isRecord ? ++records : null
          added.push(seq)
          memory.add({ seq, bytes: new Uint8Array(size) })
        }
        const kept = readFrom(memory, memory.first)
        assert.deepEqual(kept, added.slice(added.length - kept.length))
        assert.deepEqual(memory.end, { event: added.length, records })
        assert.equal(memory.first.records + kept.filter((seq) => seq !== null).length, records)
        assert.ok(kept.length * 150 <= limit)
        assert.ok(events.length === 0 || kept.length > 0)
      },
    ),
    { numRuns: 50 },
  )
})
