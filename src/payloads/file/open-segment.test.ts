import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { OpenSegment } from './open-segment.ts'
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
