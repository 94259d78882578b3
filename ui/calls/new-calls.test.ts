import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { belongsTo } from './new-calls.ts'

const call = {
  id: '6gzw5raer00',
  started_at: '2026-11-21T12:00:00.000Z',
  model: 'glm-4.7',
  call_type: 'chat',
  outcome: 'refused',
  failure_code: 'queue_full',
  upstream_error_code: null,
  client: 'curl',
  status: 503,
  failed: true,
  duration_ms: 1500,
  session: 'night',
  tags: 'env:prod,team:search',
  trace_id: '0af7651916cd43dd8448eb211c80319c',
} as unknown as CallJson

const startedMs = Date.parse(call.started_at)

const matching: readonly Partial<PageAddress>[] = [
  {},
  { models: ['glm-4.7', 'other'] },
  { callTypes: ['chat'] },
  { outcomes: ['refused'] },
  { failureCodes: ['queue_full'] },
  { clients: ['curl'] },
  { statuses: ['429', '503'] },
  { errorsOnly: true },
  { minMs: 1500, maxMs: 1500 },
  { q: 'queue_full' },
  { q: '6gzw5raer00' },
  { q: '0af7651916cd43dd8448eb211c80319c' },
  { session: 'night' },
  { tags: ['env:test', 'env:prod', 'team:search'] },
  { range: { last: null, fromMs: startedMs, toMs: startedMs + 1 } },
]

const others: readonly Partial<PageAddress>[] = [
  { models: ['other'] },
  { callTypes: ['rerank'] },
  { outcomes: ['ok'] },
  { statuses: ['429'] },
  { failureCodes: ['queue_timeout'] },
  { clients: ['wget'] },
  { source: 'litellm' },
  { minMs: 1500.5 },
  { maxMs: 1499.5 },
  { q: 'queue' },
  { session: 'day' },
  { tags: ['env:test'] },
  { tags: ['env:prod', 'team:mail'] },
  { range: { last: null, fromMs: startedMs - 1, toMs: startedMs } },
]

for (const change of matching) {
  test(`a new call belongs to a list of ${JSON.stringify(change)}`, () => {
    assert.equal(belongsTo(call, { ...defaultAddress, ...change }), true)
  })
}

for (const change of others) {
  test(`a new call does not belong to a list of ${JSON.stringify(change)}`, () => {
    assert.equal(belongsTo(call, { ...defaultAddress, ...change }), false)
  })
}

test('a call that went well, or whose duration is not known, is in no list that asks for more', () => {
  assert.equal(belongsTo({ ...call, failed: false }, { ...defaultAddress, errorsOnly: true }), false)
  assert.equal(belongsTo({ ...call, duration_ms: null }, { ...defaultAddress, minMs: 0 }), false)
  assert.equal(belongsTo({ ...call, client: null }, { ...defaultAddress, clients: ['curl'] }), false)
})
