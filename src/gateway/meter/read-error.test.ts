import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestLooked } from '../../call/error-message.ts'
import { readError } from './read-error.ts'

test('of a message no more is handed on than is looked at', () => {
  assert.equal(readError({ error: { message: 'x'.repeat(9000) } }, 400).message?.length, longestLooked)
})
