import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskSecrets } from './mask-secrets.ts'

const masked: readonly [message: string, stored: string][] = [
  ['Incorrect API key provided: sk-proj-abcdEFGH1234.', 'Incorrect API key provided: [secret]'],
  ['bad header Bearer abcdef123456', 'bad header Bearer [secret]'],
  ['key gsk_abcdefgh12345678 is revoked', 'key [secret] is revoked'],
  ['AIzaSyA1234567890abcdefghijklmnop denied', '[secret] denied'],
  ['{"token":"abc123def456"}', '{"token":"[secret]"}'],
  ['jwt eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl here', 'jwt [secret] here'],
]

for (const [message, stored] of masked) {
  test(`the secret in ${JSON.stringify(message)} is masked`, () => {
    assert.equal(maskSecrets(message), stored)
  })
}

for (const message of [
  'The model `gpt-5-mini` does not exist',
  'This model supports at most 128000 tokens, whereas 130000 were given',
  'token limit exceeded',
  'You exceeded your current quota, please check your plan',
]) {
  test(`${JSON.stringify(message)} stays as it is`, () => {
    assert.equal(maskSecrets(message), message)
  })
}

test('a message is cut to 500 characters', () => {
  assert.equal(maskSecrets('x '.repeat(10_000)).length, 500)
})
