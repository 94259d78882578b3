import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { bareCall, chatCall, fullCall, sampleStartMs } from '../../../test/store/sample-call.ts'
import { idsPerMs } from '../../call/call-id.ts'
import { callColumns, type StoredCall } from '../sqlite/call-columns.ts'
import { BatchEncoder, type CallBatch, slotOf, slotsPerCall, WordList } from './record-batch.ts'

const firstId = sampleStartMs * idsPerMs

/** What the receiving side sees of a batch, column by column. */
function decode(batch: CallBatch, words: WordList): unknown[][] {
  words.accept(batch)
  return Array.from({ length: batch.count }, (_, row) => {
    const at = (slot: number): number => batch.slots[row * slotsPerCall + slot]!
    const values = callColumns.map((column, index) => {
      const value = at(index + 1)
      if (Number.isNaN(value)) return null
      if (column.kind === 'number') return value
      return column.kind === 'text' ? batch.texts[value] : words.word(value)
    })
    return [at(0), ...values]
  })
}

function expected(call: StoredCall): unknown[] {
  const values = callColumns.map((column) => {
    const value = column.read(call)
    return typeof value === 'number' && Number.isNaN(value) ? null : value
  })
  return [call.id, ...values]
}

const count = fc.option(fc.nat())
const ms = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }))
const word = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'b', 'gpt-5.1-mini', '')))
const anyCall = fc
  .record({
    id: fc.nat().map((n) => firstId + n),
    model: word,
    responseModel: word,
    session: word,
    errorMessage: word,
    upstreamRequestId: word,
    status: count,
    inputTokens: count,
    outputTokens: count,
    queueMs: ms,
    durationMs: ms,
    keyFingerprint: fc.option(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((n) => n.toString(16).padStart(8, '0')),
    ),
    outcome: fc.constantFrom('ok', 'refused', 'interrupted'),
    stream: fc.boolean(),
  })
  .map((fields): StoredCall => Object.assign(chatCall(), fields))

test('what arrives is what was sent, over many batches and renewed numberings', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyCall, { maxLength: 8 }), { maxLength: 8 }),
      fc.nat(20),
      (batches, limit) => {
        const encoder = new BatchEncoder(limit)
        const words = new WordList()
        for (const calls of batches) {
          const crossed = structuredClone(encoder.encode(calls))
          assert.deepEqual(decode(crossed, words), calls.map(expected))
        }
      },
    ),
  )
})

test('full, typical and bare calls arrive', () => {
  const calls = [fullCall(firstId), chatCall(firstId + 1), bareCall(firstId + 2)]
  assert.deepEqual(decode(new BatchEncoder().encode(calls), new WordList()), calls.map(expected))
})

test('a word crosses once', () => {
  const encoder = new BatchEncoder()
  assert.ok(encoder.encode([chatCall()]).newWords.includes('gpt-5.1-mini'))
  assert.deepEqual(encoder.encode([chatCall(), chatCall()]).newWords, [])
})

test('the numbering starts anew when clients invent too many words', () => {
  const encoder = new BatchEncoder(100)
  const words = new WordList()
  const renewals = Array.from({ length: 50 }, (_, batch) => {
    const calls = Array.from({ length: 10 }, (__, row) => ({ ...chatCall(), session: `s${batch}-${row}` }))
    const encoded = encoder.encode(calls)
    assert.deepEqual(decode(encoded, words), calls.map(expected))
    return encoded.forgetWords
  })
  assert.equal(renewals.filter(Boolean).length, words.generation)
  assert.ok(words.generation > 3 && words.generation < 10, String(words.generation))
})

test('a word of absurd length is cut', () => {
  const [cut] = new BatchEncoder().encode([{ ...bareCall(firstId), endpoint: 'x'.repeat(100_000) }]).newWords
  assert.equal(cut?.length, 2000)
})

test('a receiver that missed a batch says so rather than naming the wrong word', () => {
  assert.throws(() => new WordList().word(0), /a batch is missing/)
})

const numbers: readonly [string, Partial<StoredCall>, number][] = [
  ['queue_us', { queueMs: 1.2345 }, 1235],
  ['queue_us', { queueMs: 0 }, 0],
  ['queue_us', { queueMs: null }, Number.NaN],
  ['queue_us', { queueMs: Number.POSITIVE_INFINITY }, Number.NaN],
  ['input_tokens', { inputTokens: 1.5 }, 2],
  ['input_tokens', { inputTokens: 1e300 }, Number.NaN],
  ['key_fingerprint', { keyFingerprint: 'ffffffff' }, -1],
  ['key_fingerprint', { keyFingerprint: '7fffffff' }, 2 ** 31 - 1],
  ['stream', { stream: false }, 0],
  ['outcome_id', { outcome: 'interrupted' }, 6],
]
for (const [column, fields, stored] of numbers) {
  test(`${JSON.stringify(fields)} is stored as ${column} ${stored}`, () => {
    const { slots } = new BatchEncoder().encode([{ ...chatCall(), ...fields }])
    assert.equal(slots[slotOf(column)], stored)
  })
}

test('a column that does not exist is a fault of the caller', () => {
  assert.throws(() => slotOf('no_such'), RangeError)
})
