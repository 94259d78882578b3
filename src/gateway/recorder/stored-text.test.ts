import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestMessage } from '../../call/error-message.ts'
import { storedText } from './stored-text.ts'
import { heldMegabytes } from '../../../test/support/held-memory.ts'
import { assertWithin } from '../../../test/support/assert-within.ts'

function stored(message: string): string {
  return storedText(message, longestMessage)
}

test('a secret is masked, and other words stay', () => {
  assert.equal(stored('key gsk_abcdefgh12345678 is revoked'), 'key [secret] is revoked')
  assert.equal(stored('The model `gpt-5-mini` does not exist'), 'The model `gpt-5-mini` does not exist')
})

test('a message is cut to 500 characters', () => {
  assert.equal(stored('x '.repeat(10_000)).length, 500)
})

test('nothing of a key is left where the message is cut, however long what comes before it', () => {
  const key = 'sk-proj-abcdEFGH1234ijklMNOP5678'
  for (let pad = 0; pad < 600; pad++) {
    // A mask shortens what comes before, so that what was cut off comes into sight.
    const message = `Bearer ${'a1'.repeat(900)} ${'z'.repeat(pad)} ${key}`
    const text = stored(message)
    assert.ok(!text.includes('sk-p'), text.slice(-40))
    assert.ok(!stored(message.slice(1800)).includes('sk-p'))
  }
})

test('a mark is never stored in part', () => {
  for (let pad = 480; pad < 500; pad++) {
    assert.doesNotMatch(stored(`${'z'.repeat(pad)} Bearer abcdef123456`), /\[[a-z]*$/)
  }
})

test('a very long message costs no more than its beginning', () => {
  const message = 'token=a1b2c3d4 '.repeat(1_000_000)
  const begun = performance.now()
  for (let i = 0; i < 20; i++) stored(message)
  assertWithin(2000, performance.now() - begun, 'the text')
})

test('what is stored of a long text keeps none of the rest', () => {
  const megabytes = heldMegabytes(() =>
    Array.from({ length: 1000 }, (_, i) => storedText(`${i}${'x '.repeat(30_000)}`, 200)),
  )
  assert.ok(megabytes < 3, `${megabytes} MB`)
})
