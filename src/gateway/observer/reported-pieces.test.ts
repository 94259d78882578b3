import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReportedPieces } from './reported-pieces.ts'

function inEvents(pieces: ReportedPieces, name: 'usage' | 'timings', ...texts: readonly string[]): void {
  for (const text of texts) {
    const bytes = Buffer.from(text)
    pieces.inEvent(name, bytes, 0, bytes.length)
    bytes.fill(0)
  }
}

test('of a stream the newest piece of each kind counts, and zeros do not', () => {
  const pieces = new ReportedPieces()
  inEvents(
    pieces,
    'usage',
    '{"total_tokens":0}',
    '{"total_tokens":1}',
    '{"total_tokens":22}',
    '{"total_tokens":0}',
  )
  inEvents(pieces, 'timings', '{"predicted_n":3}')
  assert.deepEqual(pieces.all(), { usage: { total_tokens: 22 }, timings: { predicted_n: 3 } })
  assert.deepEqual([pieces.textCount, pieces.countEvents], [2, 3])
})

test('a piece that cannot be read stands above an older one that can', () => {
  const pieces = new ReportedPieces()
  inEvents(pieces, 'usage', '{"total_tokens":1}', '{"total_tokens":NaN}')
  assert.deepEqual(pieces.all(), { usage: undefined })
})

test('what is forgotten is not there', () => {
  const pieces = new ReportedPieces()
  inEvents(pieces, 'usage', '{"total_tokens":1}')
  pieces.forget('usage')
  assert.deepEqual([pieces.all(), pieces.textCount], [{}, 0])
})

test('a body’s piece is parsed where it stands', () => {
  const pieces = new ReportedPieces()
  const bytes = Buffer.from('x{"total_tokens":0}x')
  pieces.inBody('usage', bytes, 1, bytes.length - 1)
  assert.deepEqual([pieces.all(), pieces.textCount], [{ usage: { total_tokens: 0 } }, 0])
})
