import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretToken } from './secret-token.ts'

test('only the very secret matches', () => {
  const token = new SecretToken('correct-horse')
  assert.equal(token.matches('correct-horse'), true)
  for (const guess of ['', 'correct-hors', 'correct-horse ', 'Correct-horse', null, undefined]) {
    assert.equal(token.matches(guess), false, String(guess))
  }
})
