import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isIncoming, isCompleteLine, seqOf, seqsIn } from './payload-line.ts'

const line =
  '{"id":"6gzxs32w8r0","seq":7353457635451648,"timestamp":"2026-11-21T16:15:42.819Z","direction":"incoming","x":1}'
const bytes = Buffer.from(line)

test('a record’s head is read without parsing the rest', () => {
  assert.equal(seqOf(bytes, 0), 7353457635451648)
  assert.equal(isIncoming(bytes, 0), true)
  assert.equal(isIncoming(Buffer.from(line.replace('incoming', 'outgoing')), 0), false)
  assert.equal(seqOf(Buffer.from(line.replace('73534', '7353x')), 0), null)
})

test('whole is what begins and ends as a record does', () => {
  assert.equal(isCompleteLine(bytes, 0, bytes.length), true)
  assert.equal(isCompleteLine(bytes, 1, bytes.length), false)
  assert.equal(isCompleteLine(bytes, 0, bytes.length - 1), false)
  assert.equal(isCompleteLine(Buffer.from('{}'), 0, 2), false)
})

test('of what begins behind a line break the seqs are told', () => {
  const older = line.replace('7353457635451648', '7353457635451000')
  assert.deepEqual(
    seqsIn(Buffer.from(`${line}\n${older}\n${older.slice(0, 60)}`)),
    [7353457635451000, 7353457635451000],
  )
  assert.deepEqual(
    seqsIn(Buffer.from(`x\n${older}\n${line}\n~\n${line.slice(0, 40)}`)),
    [7353457635451000, 7353457635451648],
  )
  assert.deepEqual(seqsIn(bytes), [])
})
