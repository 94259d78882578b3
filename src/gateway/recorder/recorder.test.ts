import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '../../call/failure.ts'
import { type CallEnd, settle } from './recorder.ts'

const failure = (code: FailureCode): Failure => new Failure(code, 'said by a test')

const cases: readonly [
  what: string,
  end: Partial<CallEnd>,
  outcome: string,
  code: string | null,
  status: number | null,
][] = [
  ['a whole answer', { status: 200 }, 'ok', null, 200],
  ['figures that cannot be right', { status: 200, isImplausible: true }, 'ok', 'implausible_usage', 200],
  [
    'such figures, and a client that leaves',
    { status: 200, isImplausible: true, gone: failure('client_gone') },
    'client_disconnected',
    'client_gone',
    200,
  ],
  ['a whole stream', { status: 200, ending: 'complete' }, 'ok', null, 200],
  ['a status of 400 and above', { status: 404 }, 'upstream_error', 'upstream_http', 404],
  [
    'an error inside HTTP 200',
    { status: 200, ending: 'stream_error' },
    'upstream_error',
    'stream_error',
    200,
  ],
  [
    'a stream without its end mark',
    { status: 200, ending: 'truncated' },
    'upstream_cut',
    'stream_truncated',
    200,
  ],
  [
    'a reset in the stream',
    { status: 200, failure: failure('upstream_reset'), ending: 'truncated' },
    'upstream_cut',
    'upstream_reset',
    200,
  ],
  [
    'silence in the stream',
    { status: 200, failure: failure('upstream_timeout'), ending: 'truncated' },
    'upstream_cut',
    'upstream_timeout',
    200,
  ],
  [
    'garbage in the stream',
    { status: 200, failure: failure('upstream_protocol_error') },
    'upstream_cut',
    'upstream_reset',
    200,
  ],
  [
    'no connection',
    { status: 502, failure: failure('upstream_unreachable') },
    'upstream_error',
    'upstream_unreachable',
    502,
  ],
  [
    'silence before a status',
    { status: 504, failure: failure('upstream_timeout') },
    'upstream_error',
    'upstream_timeout',
    504,
  ],
  ['a full queue', { status: 503, failure: failure('queue_full') }, 'refused', 'queue_full', 503],
  ['a loop', { status: 508, failure: failure('loop_detected') }, 'refused', 'loop_detected', 508],
  ['a bad request', { status: 400, failure: failure('invalid_request') }, 'refused', 'invalid_request', 400],
  [
    'our own fault',
    { status: 500, failure: failure('internal_error') },
    'gateway_error',
    'internal_error',
    500,
  ],
  ['a call given up unanswered', { status: 503, failure: failure('draining') }, 'refused', 'draining', 503],
  ['a stream given up', { status: 200, failure: failure('draining') }, 'gateway_error', 'draining', 200],
  [
    'a client that left while it waited',
    { failure: failure('client_gone'), gone: failure('client_gone') },
    'client_disconnected',
    'client_gone',
    499,
  ],
  [
    'a client that left in the stream',
    { status: 200, failure: failure('client_gone'), gone: failure('client_gone'), ending: 'truncated' },
    'client_disconnected',
    'client_gone',
    200,
  ],
  [
    'a client that left after the end mark',
    { status: 200, failure: failure('client_gone'), gone: failure('client_gone'), ending: 'complete' },
    'ok',
    null,
    200,
  ],
  [
    'a client that left because of an error event',
    { status: 200, failure: failure('client_gone'), gone: failure('client_gone'), ending: 'stream_error' },
    'upstream_error',
    'stream_error',
    200,
  ],
  [
    'a stalled client',
    { status: 200, failure: failure('client_stalled'), gone: failure('client_stalled') },
    'client_disconnected',
    'client_stalled',
    200,
  ],
  [
    'a client that left before the last bytes',
    { status: 200, gone: failure('client_gone') },
    'client_disconnected',
    'client_gone',
    200,
  ],
]

for (const [what, end, outcome, code, status] of cases) {
  test(`${what} is ${outcome}`, () => {
    const verdict = settle({
      status: null,
      failure: null,
      gone: null,
      ending: 'none',
      isImplausible: false,
      ...end,
    })
    assert.deepEqual(verdict, { outcome, failureCode: code, status })
  })
}
