import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenAnswer } from './seen-exchange.ts'
import { timeToFirstTokenMs } from './time-to-first-token.ts'

/** An answer whose pieces came one each ten milliseconds. */
function answerOf(pieces: readonly string[]): SeenAnswer {
  let bytes = 0
  const arrivals = pieces.map((piece, i) => {
    bytes += Buffer.byteLength(piece)
    return { atMs: (i + 1) * 10, bytes }
  })
  const body = Buffer.from(pieces.join(''))
  return { status: 200, statusText: 'OK', headers: [], body, isComplete: true, arrivals }
}

const role = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
const word = 'data: {"choices":[{"delta":{"content":"é"}}]}\r\n\r\n'

for (const [what, pieces, expected] of [
  ['the first content, not the role', [role, ': ping\n\n', word, word], 30],
  ['the end of its event', [role + word.slice(0, 20), word.slice(20)], 20],
  ['reasoning', [role, word.replace('content', 'reasoning_content')], 20],
  ['a tool call', [role, 'data: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}\n\n'], 20],
  ['the end of what is no stream', ['{"choices":', '[]}'], 20],
  ['nothing', [], null],
] as const) {
  test(`is the time to ${what}`, () => {
    assert.equal(timeToFirstTokenMs(answerOf(pieces)), expected)
  })
}
