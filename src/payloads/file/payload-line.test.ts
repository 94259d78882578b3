import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCallId } from '../../call/call-id.ts'
import { callIdOf, isIncoming, isWhole, seqOf, tornEnd, whereWhole } from './payload-line.ts'

const line =
  '{"id":"6gzxs32w8r0","seq":7353457635451648,"timestamp":"2026-11-21T16:15:42.819Z","direction":"incoming","x":1}'
const bytes = Buffer.from(line)

test('a record’s head is read without parsing the rest', () => {
  assert.equal(callIdOf(bytes, 0), parseCallId('6gzxs32w8r0'))
  assert.equal(seqOf(bytes, 0), 7353457635451648)
  assert.equal(isIncoming(bytes, 0), true)
  assert.equal(isIncoming(Buffer.from(line.replace('incoming', 'outgoing')), 0), false)
  assert.equal(callIdOf(Buffer.from(line.replace('6gzxs', '6gzxS')), 0), null)
  assert.equal(seqOf(Buffer.from(line.replace('73534', '7353x')), 0), null)
})

test('whole is what begins and ends as a record does', () => {
  assert.equal(isWhole(bytes, 0, bytes.length), true)
  assert.equal(isWhole(bytes, 1, bytes.length), false)
  assert.equal(isWhole(bytes, 0, bytes.length - 1), false)
  assert.equal(isWhole(Buffer.from('{}'), 0, 2), false)
})

test('of many lines those are found that are whole, and no other', () => {
  const torn = [line.slice(0, -1), line, '~', '', '{}'].map((text) => text + Buffer.from(tornEnd).toString())
  for (const broken of torn) {
    const text = `${line}\n${broken}${line}\n${line}`
    const found = [...whereWhole(Buffer.from(text))].map(({ start, end }) => text.slice(start, end))
    assert.deepEqual(found, [line, line], broken)
  }
})
