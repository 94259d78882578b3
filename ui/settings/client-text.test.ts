import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientRow } from '../../src/api/clients.ts'
import { nameOf, withUse } from './client-text.ts'

const row: ClientRow = {
  client: 'agent',
  is_key: false,
  name: null,
  keys: [],
  calls: 3,
  tokens: 60,
  last_at: null,
  max_concurrent: 1,
  token_limit: 100,
  active: null,
  waiting: null,
  used_tokens: null,
  max_rpm: null,
  max_tpm: null,
  remaining_tokens: null,
}

test('a client is called by its name, else by its key', () => {
  assert.equal(nameOf(row), 'agent')
  assert.equal(nameOf({ client: '12345678', is_key: true }), 'Key 12345678')
  assert.equal(nameOf({ client: '', is_key: false }), 'No name, no key')
})

test('rows have what the gateway says now, and nothing in use if it names them not', () => {
  const use = { client: 'agent', active: 1, waiting: 2, max_concurrent: 2, token_limit: 90, used_tokens: 100 }
  const [told] = withUse([row], [use])
  assert.deepEqual(
    [told?.active, told?.waiting, told?.max_concurrent, told?.remaining_tokens, told?.calls],
    [1, 2, 2, -10, 3],
  )
  assert.deepEqual(withUse([row], null), [row])
  assert.deepEqual([withUse([row], [])[0]?.active, withUse([row], [])[0]?.max_concurrent], [0, 1])
})
