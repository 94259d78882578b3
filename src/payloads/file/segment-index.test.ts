import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { encodeEntries, entryBytes, headerEntry, type IndexEntry, SegmentIndex } from './segment-index.ts'

function indexOf(entries: readonly IndexEntry[], fileNumber: number = 7): SegmentIndex {
  return new SegmentIndex(encodeEntries([headerEntry(fileNumber), ...entries]))
}

const lengths = fc.array(fc.integer({ min: 1, max: 100 }), { size: 'max', maxLength: 60 })

function inFile(sizes: readonly number[]): IndexEntry[] {
  let end = 0
  return sizes.map((length, at) => ({ callId: at % 5, offset: (end += length) - length, length }))
}

describe('an index', () => {
  test('tells of each call where its records lie, as they were noted', () => {
    fc.assert(
      fc.property(lengths, (sizes) => {
        const entries = inFile(sizes)
        const index = indexOf(entries)
        for (let callId = 0; callId < 6; callId++) {
          assert.deepEqual(
            index.entriesOf(callId),
            entries.filter((entry) => entry.callId === callId),
          )
        }
      }),
    )
  })

  test('tells what it leaves out, in whatever order it was written', () => {
    fc.assert(
      fc.property(
        lengths,
        fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
        fc.boolean(),
        (sizes, noted, isReversed) => {
          const all = inFile(sizes)
          const size = sizes.reduce((sum, length) => sum + length, 0)
          const some = all.filter((_, at) => noted[at])
          const said = indexOf(isReversed ? some.toReversed() : some).gaps(size)
          assert.equal(said?.count, some.length)
          const missing = new Set(
            said?.gaps.flatMap(({ start, end }) =>
              Array.from({ length: end - start }, (_, at) => start + at),
            ),
          )
          for (const { offset, length } of all.filter((_, at) => !noted[at])) {
            for (let at = offset; at < offset + length; at++) assert.ok(missing.delete(at))
          }
          assert.equal(missing.size, 0)
        },
      ),
    )
  })

  test('of records that would share a byte says nothing', () => {
    assert.equal(
      indexOf([
        { callId: 1, offset: 0, length: 10 },
        { callId: 2, offset: 9, length: 10 },
      ]).gaps(100),
      null,
    )
  })

  test('leaves out what lies beyond the end of its segment: that was cleared', () => {
    const index = indexOf([
      { callId: 1, offset: 5000, length: 10 },
      { callId: 2, offset: 0, length: 10 },
    ])
    assert.deepEqual(index.gaps(12), { count: 1, gaps: [{ start: 10, end: 12 }] })
  })

  test('knows whose it is, and whether its last entry is whole', () => {
    const bytes = encodeEntries([headerEntry(99), { callId: 1, offset: 0, length: 10 }])
    const whole = new SegmentIndex(bytes)
    assert.deepEqual([whole.fileNumber, whole.isEven], [99, true])
    const cut = new SegmentIndex(Uint8Array.from(bytes.subarray(0, entryBytes * 2 - 1)))
    assert.deepEqual([cut.fileNumber, cut.isEven, cut.gaps(10)?.count], [99, false, 0])
  })

  test('of bytes that are none is empty', () => {
    fc.assert(
      fc.property(fc.uint8Array({ size: 'max', maxLength: 200 }), (noise) => {
        const index = new SegmentIndex(Uint8Array.from(noise))
        assert.equal(index.fileNumber, null)
        assert.deepEqual(index.gaps(10), { count: 0, gaps: [{ start: 0, end: 10 }] })
        assert.deepEqual(index.samples(10), [])
      }),
    )
  })
})
