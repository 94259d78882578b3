import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RecentLines } from './recent-lines.ts'
import { tornEnd } from './payload-line.ts'
import { draws } from '../../../test/support/draws.ts'

const head = '{"id":"6gzxs32w8r0","seq":1,"x":"'

/** A segment with blocks of its own size would need megabytes: this one reads as if each were tiny. */
function segmentOf(text: string): { size: number; read: (start: number, end: number) => Buffer } {
  const bytes = Buffer.from(text)
  return { size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

const records = fc.array(fc.integer({ min: 0, max: 200_000 }), { size: 'max', maxLength: 12 })

test('newest first over all segments, whatever their lengths and wherever blocks end; what is torn is left out', () => {
  fc.assert(
    fc.property(
      fc.array(records, { minLength: 1, maxLength: 3 }),
      fc.nat(20),
      fc.nat(4),
      (segments, limit, torn) => {
        let count = 0
        const texts = segments.map((lengths) =>
          lengths.map((length) => `${head}${count++}-${'x'.repeat(length)}"}`),
        )
        const files = texts.map((lines, at) => {
          const text = lines.map((line) => `${line}\n`).join('')
          const broken = `${head}torn"}`.slice(0, -1 - at)
          return torn === at ? `${broken}${Buffer.from(tornEnd).toString()}${text}${broken}` : text
        })
        const lines = new RecentLines(limit + 1, 2 ** 30)
        for (const file of files.toReversed()) if (lines.take(segmentOf(file)) !== null) break
        const shown = JSON.parse(Buffer.from(lines.toJson(count, false)).toString())
        const expected = texts
          .flat()
          .toReversed()
          .slice(0, limit + 1)
        assert.deepEqual(shown, {
          entries: expected.map((line) => JSON.parse(line)),
          total_count: count,
          truncated: false,
        })
      },
    ),
    { numRuns: draws(60) },
  )
})

test('a segment that was emptied while it was read ends the search in it', () => {
  const lines = new RecentLines(10, 2 ** 20)
  assert.equal(lines.take({ size: 1000, read: () => Buffer.alloc(0) }), null)
  assert.deepEqual(JSON.parse(Buffer.from(lines.toJson(0, false)).toString()).entries, [])
})
