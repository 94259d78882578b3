import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReportedPieces } from './reported-pieces.ts'

type Told = readonly [name: 'usage' | 'timings', choice: number | null, text: string]

function inEvents(...told: readonly Told[]): ReportedPieces {
  const pieces = new ReportedPieces()
  for (const [name, choice, text] of told) {
    const bytes = Buffer.from(text)
    pieces.inEvent(name, choice, bytes, 0, bytes.length)
    bytes.fill(0)
  }
  return pieces
}

test('of a stream the newest piece of each kind counts, and zeros do not', () => {
  const pieces = inEvents(
    ['usage', null, '{"total_tokens":0}'],
    ['usage', null, '{"total_tokens":1}'],
    ['usage', null, '{"total_tokens":22}'],
    ['usage', null, '{"total_tokens":0}'],
    ['timings', 0, '{"predicted_n":3}'],
  )
  assert.deepEqual(pieces.all(), [{ usage: { total_tokens: 22 }, timings: { predicted_n: 3 } }])
  assert.deepEqual([pieces.textCount, pieces.countEvents], [2, 3])
})

test('of each choice the newest counts, until a usage of all of them comes', () => {
  const ofChoices: readonly Told[] = [
    ['timings', 3, '{"predicted_n":3}'],
    ['timings', 0, '{"predicted_n":1}'],
    ['timings', 3, '{"predicted_n":4}'],
  ]
  const pieces = inEvents(...ofChoices)
  assert.deepEqual(pieces.all(), [{ timings: { predicted_n: 1 } }, { timings: { predicted_n: 4 } }])
  assert.equal(pieces.textCount, 2)
  assert.deepEqual(inEvents(...ofChoices, ['usage', null, '{"total_tokens":9}']).all(), [
    { timings: { predicted_n: 1 }, usage: { total_tokens: 9 } },
  ])
})

test('a piece that cannot be read stands above an older one that can', () => {
  const pieces = inEvents(['usage', null, '{"total_tokens":1}'], ['usage', null, '{"total_tokens":NaN}'])
  assert.deepEqual(pieces.all(), [{ usage: undefined }])
})

test('what is forgotten is not there', () => {
  const pieces = inEvents(['usage', null, '{"total_tokens":1}'])
  pieces.forget('usage')
  assert.deepEqual([pieces.all(), pieces.textCount], [[{}], 0])
})

test('a body’s piece is parsed where it stands', () => {
  const pieces = new ReportedPieces()
  const bytes = Buffer.from('x{"total_tokens":0}x')
  pieces.inBody('usage', bytes, 1, bytes.length - 1)
  assert.deepEqual([pieces.all(), pieces.textCount], [[{ usage: { total_tokens: 0 } }], 0])
})
