import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestLooked } from '../../call/error-message.ts'
import { ErrorText, readError } from './read-error.ts'

test('of a message no more is handed on than is looked at', () => {
  assert.equal(readError({ error: { message: 'x'.repeat(9000) } }, 400).message?.length, longestLooked)
})

function textOf(...chunks: readonly (string | Uint8Array)[]): string | null {
  const text = new ErrorText()
  for (const chunk of chunks) text.data(Buffer.from(chunk as string))
  return text.message
}

test('a plain text: the words, without the space around them', () => {
  assert.equal(textOf('\r\n no upstr', 'eam \n'), 'no upstream')
})

test('a plain text: no word at all', () => {
  assert.deepEqual([textOf(), textOf(''), textOf(' \r\n')], [null, null, null])
})

test('a plain text: a character that two chunks share', () => {
  const bytes = Buffer.from('\u{1F30A}')
  assert.equal(textOf(bytes.subarray(0, 2), bytes.subarray(2)), '\u{1F30A}')
})

test('a plain text: of many words no more than is looked at', () => {
  assert.equal(
    textOf(...Array.from({ length: 300 }, () => 'water rises ')),
    'water rises '.repeat(400).slice(0, longestLooked),
  )
})
