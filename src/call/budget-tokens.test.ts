import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatCall } from '../../test/store/sample-call.ts'
import { estimatedTokens, reportedTokens } from './budget-tokens.ts'
import type { StoredCall } from './call-record.ts'

const base: StoredCall = {
  ...chatCall(),
  callType: 'chat',
  outcome: 'client_disconnected',
  failureCode: 'client_gone',
  status: 200,
  connectMs: 1,
  ttfbMs: 20,
  chunks: 50,
  requestBytes: 399,
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
}
const ok = { outcome: 'ok', failureCode: null } as const
const reported = { inputTokens: 90, outputTokens: 60, totalTokens: 150 }
const unsent = { connectMs: null, ttfbMs: null, chunks: null }
const silent = { ttfbMs: null, chunks: null }
const refused = { outcome: 'upstream_error', failureCode: 'upstream_unreachable', status: 502 } as const
const late = { outcome: 'upstream_error', failureCode: 'upstream_timeout', status: 504 } as const

const cases: readonly [what: string, change: Partial<StoredCall>, reported: number, estimated: number][] = [
  ['a stream that its client left', {}, 0, 150],
  ['a call that its client left before the answer', { ...silent, status: 499 }, 0, 100],
  ['a call that its client left before it was sent', unsent, 0, 0],
  ['a stream without usage', ok, 0, 150],
  ['a stream with usage', { ...ok, ...reported }, 150, 0],
  ['a stream left after its usage', reported, 150, 0],
  ['a stream of which only the input was reported', { inputTokens: 90, outputTokens: 1 }, 91, 49],
  ['a stream that broke', { outcome: 'upstream_cut', failureCode: 'upstream_reset' }, 0, 150],
  ['an error of the upstream', { outcome: 'upstream_error', status: 500, chunks: null }, 0, 0],
  ['a connection that was refused', { ...refused, ttfbMs: null }, 0, 0],
  ['an upstream that never answered', { ...late, ...silent }, 0, 100],
  ['a call of a gateway that was killed', { outcome: 'interrupted', connectMs: null, chunks: null }, 0, 100],
  ['a refused call', { ...unsent, outcome: 'refused', status: 429 }, 0, 0],
  ['an uploaded file', { callType: 'other', outcome: 'ok', requestBytes: 10 ** 9 }, 0, 0],
  ['reranking of which only the total is told', { callType: 'rerank', chunks: null, totalTokens: 9 }, 0, 0],
]

for (const [what, change, tokens, estimated] of cases) {
  test(`${what}: ${tokens} reported, ${estimated} estimated`, () => {
    const call = { ...base, ...change }
    assert.deepEqual([reportedTokens(call), estimatedTokens(call)], [tokens, estimated])
  })
}
