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
const reported = { inputTokens: 90, outputTokens: 60, totalTokens: 150 }

const cases: readonly [what: string, call: StoredCall, reported: number, estimated: number][] = [
  ['a stream that its client left', base, 0, 150],
  [
    'a call that its client left before the answer',
    { ...base, status: 499, ttfbMs: null, chunks: null },
    0,
    100,
  ],
  [
    'a call that its client left before it was sent',
    { ...base, connectMs: null, ttfbMs: null, chunks: null },
    0,
    0,
  ],
  ['a stream without usage', { ...base, outcome: 'ok', failureCode: null }, 0, 150],
  ['a stream with usage', { ...base, outcome: 'ok', failureCode: null, ...reported }, 150, 0],
  ['a stream left after its usage', { ...base, ...reported }, 150, 0],
  ['a stream of which only the input was reported', { ...base, inputTokens: 90, outputTokens: 1 }, 91, 49],
  ['a stream that broke', { ...base, outcome: 'upstream_cut', failureCode: 'upstream_reset' }, 0, 150],
  ['an error of the upstream', { ...base, outcome: 'upstream_error', status: 500, chunks: null }, 0, 0],
  [
    'a connection that was refused',
    { ...base, outcome: 'upstream_error', failureCode: 'upstream_unreachable', status: 502, ttfbMs: null },
    0,
    0,
  ],
  [
    'an upstream that never answered',
    {
      ...base,
      outcome: 'upstream_error',
      failureCode: 'upstream_timeout',
      status: 504,
      ttfbMs: null,
      chunks: null,
    },
    0,
    100,
  ],
  [
    'a call of a gateway that was killed',
    { ...base, outcome: 'interrupted', connectMs: null, chunks: null },
    0,
    100,
  ],
  [
    'a refused call',
    { ...base, outcome: 'refused', status: 429, connectMs: null, ttfbMs: null, chunks: null },
    0,
    0,
  ],
  ['an uploaded file', { ...base, callType: 'other', outcome: 'ok', requestBytes: 10 ** 9 }, 0, 0],
  [
    'reranking of which only the total is told',
    { ...base, callType: 'rerank', chunks: null, totalTokens: 9 },
    0,
    0,
  ],
]

for (const [what, call, tokens, estimated] of cases) {
  test(`${what}: ${tokens} reported, ${estimated} estimated`, () => {
    assert.deepEqual([reportedTokens(call), estimatedTokens(call)], [tokens, estimated])
  })
}
