import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { OpenSegment } from './open-segment.ts'
import { seqOf } from './payload-line.ts'
import { draws } from '../../../test/support/draws.ts'

const firstSeq = 7353457635451648

function line(seq: number, bodyBytes: number): string {
  return `{"id":"6gzxs32w8r0","seq":${seq},"x":"${'x'.repeat(bodyBytes)}"}`
}

/** Mostly short lines, few that are longer than all that is read at once; some are torn. */
const bodies = fc.array(
  fc.record({
    bytes: fc.oneof({ weight: 8, arbitrary: fc.nat(20_000) }, { weight: 1, arbitrary: fc.nat(900_000) }),
    isTorn: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
  }),
  { size: 'max', maxLength: 60 },
)

test('each record is handed on once, whatever its length; what is torn is not', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('segment')
  fc.assert(
    fc.property(bodies, fc.nat(60), fc.boolean(), (drawn, limit, endsWhole) => {
      const lines = drawn.map(({ bytes, isTorn }, at) => {
        const text = line(firstSeq + at, bytes)
        return isTorn ? `${text.slice(0, -1)}~` : text
      })
      writeFileSync(path, lines.map((text) => `${text}\n`).join('') + (endsWhole ? '' : line(1, 10)))
      const wholeLines = lines.filter((text) => text.endsWith('}'))
      using segment = OpenSegment.open(path)
      const readLines: string[] = []
      const end = segment!.eachRecord(0, segment!.size, (bytes, start, stop) => {
        readLines.push(bytes.toString('latin1', start, stop))
        return readLines.length > limit
      })
      assert.equal(readLines.length, Math.min(wholeLines.length, limit + 1))
      assert.ok(readLines.every((text, at) => text === wholeLines[at]))
      let rest = 0
      segment!.eachRecord(end, segment!.size, () => {
        rest++
        return false
      })
      assert.equal(readLines.length + rest, wholeLines.length)
    }),
    { numRuns: draws(40) },
  )
})

test('from the line that halving finds on, nothing is missed, and little is read', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('segment')
  fc.assert(
    fc.property(bodies, fc.integer({ min: -5, max: 700 }), (drawn, wanted) => {
      const lines = drawn.map(({ bytes }, at) => line(firstSeq + at * 10, bytes))
      writeFileSync(path, lines.map((text) => `${text}\n`).join(''))
      using segment = OpenSegment.open(path)
      const { start: from } = segment!.rangeOf(firstSeq + wanted, firstSeq)
      const seqs: (number | null)[] = []
      segment!.eachRecord(from, segment!.size, (bytes, start) => {
        seqs.push(seqOf(bytes, start))
        return false
      })
      const expected = lines.map((_, at) => firstSeq + at * 10).filter((seq) => seq >= firstSeq + wanted)
      assert.deepEqual(seqs.slice(seqs.length - expected.length), expected)
      const before = lines.slice(0, lines.length - expected.length)
      const needless = seqs.length - expected.length
      assert.ok(before.slice(before.length - needless).join('').length < 200_000 + longest(lines) * 2)
    }),
    { numRuns: draws(60) },
  )
})

function longest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map(({ length }) => length))
}
