import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { bareCall, chatCall, sampleStartMs } from '../../../test/store/sample-call.ts'
import { idsPerMs } from '../../call/call-id.ts'
import { type NamedField, storedFields } from '../../call/fields/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'
import {
  BatchEncoder,
  type CallBatch,
  type FilledBatch,
  indexOf,
  numbersPerCall,
  Dictionary,
} from './record-batch.ts'

const firstId = sampleStartMs * idsPerMs

/** The columns of a batch, as the receiving side sees them. */
function decode(batch: CallBatch, words: Dictionary): unknown[][] {
  words.accept(batch)
  return Array.from({ length: batch.count }, (_, row) => {
    const at = (index: number): number => batch.numbers[row * numbersPerCall + index]!
    const values = storedFields.map(({ kind }, index) => {
      const value = at(index + 1)
      if (Number.isNaN(value)) return null
      if (kind === 'text') return batch.texts[value]
      return kind === 'word' ? words.word(value) : value
    })
    return [at(0), ...values]
  })
}

function expected(call: StoredCall): unknown[] {
  return [call.id, ...storedFields.map((field) => stored(field, call[field.record]))]
}

function stored({ kind, codes }: NamedField, value: string | number | boolean | null): unknown {
  if (value === null || kind === 'word' || kind === 'text') return value
  if (kind === 'code') return codes?.[String(value)]
  if (kind === 'fingerprint') return new Int32Array([Number(`0x${String(value)}`)])[0]
  return Math.round(Number(value) * (kind === 'time' ? 1000 : 1))
}

const count = fc.option(fc.nat())
const tokens = fc.option(fc.nat(1e9))
const ms = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }))
const word = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'b', 'gpt-5.1-mini', '')))
const words = { model: word, responseModel: word, session: word, errorMessage: word, upstreamRequestId: word }
const numbersOf = { status: count, inputTokens: tokens, outputTokens: tokens, queueMs: ms, durationMs: ms }
const fingerprint = fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((n) => n.toString(16).padStart(8, '0'))
const anyCall = fc
  .record({
    id: fc.nat().map((n) => firstId + n),
    ...words,
    ...numbersOf,
    keyFingerprint: fc.option(fingerprint),
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
        const words = new Dictionary()
        for (const calls of batches) {
          const crossed = structuredClone(encoder.encode(calls))
          assert.deepEqual(decode(crossed, words), calls.map(expected))
        }
      },
    ),
  )
})

test('a word crosses once', () => {
  const encoder = new BatchEncoder()
  assert.ok(encoder.encode([chatCall()]).newWords.includes('gpt-5.1-mini'))
  assert.deepEqual(encoder.encode([chatCall(), chatCall()]).newWords, [])
})

test('one that begins anew is sent all words again, and batches that were begun before it hold', () => {
  const encoder = new BatchEncoder(100)
  const fillOf = (calls: readonly StoredCall[]): FilledBatch => {
    const batch = encoder.begin()
    for (const call of calls) batch.add(call)
    return batch
  }
  const groups = Array.from({ length: 30 }, (_, batch) =>
    Array.from({ length: 10 }, (__, row) => ({ ...chatCall(), session: `s${batch}-${row}` })),
  )
  const batches = groups.map(fillOf)
  for (let round = 0; round < 2; round++) {
    const words = new Dictionary()
    encoder.forget()
    for (const [index, batch] of batches.entries())
      assert.deepEqual(decode(encoder.send(batch), words), groups[index]!.map(expected))
  }
})

test('a word of absurd length is cut', () => {
  const [cut] = new BatchEncoder().encode([{ ...bareCall(firstId), endpoint: 'x'.repeat(100_000) }]).newWords
  assert.equal(cut?.length, 2000)
})

test('a receiver that missed a batch says so rather than naming the wrong word', () => {
  assert.throws(() => new Dictionary().word(0), /a batch is missing/)
})

const numbers: readonly [NamedField['record'], Partial<StoredCall>, number][] = [
  ['queueMs', { queueMs: 1.2345 }, 1235],
  ['queueMs', { queueMs: 0 }, 0],
  ['queueMs', { queueMs: null }, Number.NaN],
  ['queueMs', { queueMs: Number.POSITIVE_INFINITY }, Number.NaN],
  ['inputTokens', { inputTokens: 1.5 }, 2],
  ['inputTokens', { inputTokens: 1e300 }, Number.NaN],
  ['keyFingerprint', { keyFingerprint: 'ffffffff' }, -1],
  ['keyFingerprint', { keyFingerprint: '7fffffff' }, 2 ** 31 - 1],
  ['stream', { stream: false }, 0],
  ['outcome', { outcome: 'interrupted' }, 6],
]
for (const [field, fields, number] of numbers) {
  test(`${JSON.stringify(fields)} is stored as ${field} ${number}`, () => {
    const { numbers } = new BatchEncoder().encode([{ ...chatCall(), ...fields }])
    assert.equal(numbers[indexOf[field]], number)
  })
}
