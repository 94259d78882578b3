import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '../../call/failure.ts'
import { type CallEnd, settle } from './recorder.ts'

/** How a call ended: status, failure, who left, ending; and its outcome, failure code and status. A dot is nothing. */
const cases = `
  a whole answer                              200 . . .                              | ok . 200
  a whole stream                              200 . . complete                       | ok . 200
  a status of 400 and above                   404 . . .                              | upstream_error upstream_http 404
  an error inside HTTP 200                    200 . . stream_error                   | upstream_error stream_error 200
  a stream without its end mark               200 . . truncated                      | upstream_cut stream_truncated 200
  a reset in the stream                       200 upstream_reset . truncated         | upstream_cut upstream_reset 200
  silence in the stream                       200 upstream_timeout . truncated       | upstream_cut upstream_timeout 200
  garbage in the stream                       200 upstream_protocol_error . .        | upstream_cut upstream_reset 200
  no connection                               502 upstream_unreachable . .           | upstream_error upstream_unreachable 502
  silence before a status                     504 upstream_timeout . .               | upstream_error upstream_timeout 504
  a full queue                                503 queue_full . .                     | refused queue_full 503
  a loop                                      508 loop_detected . .                  | refused loop_detected 508
  a bad request                               400 invalid_request . .                | refused invalid_request 400
  our own fault                               500 internal_error . .                 | gateway_error internal_error 500
  a call given up unanswered                  503 draining . .                       | refused draining 503
  a stream given up                           200 draining . .                       | gateway_error draining 200
  a client that left while it waited          . client_gone client_gone .            | client_disconnected client_gone 499
  a client that left in the stream            200 client_gone client_gone truncated  | client_disconnected client_gone 200
  a client that left after the end mark       200 client_gone client_gone complete   | ok . 200
  a client that left because of an error      200 client_gone client_gone stream_error | upstream_error stream_error 200
  a stalled client                            200 client_stalled client_stalled .    | client_disconnected client_stalled 200
  a client that left before the last bytes    200 . client_gone .                    | client_disconnected client_gone 200
`
const failure = (code: string | undefined): Failure | null =>
  code === undefined || code === '.' ? null : new Failure(code as FailureCode, 'said by a test')

for (const [, what = '', end = '', expected = ''] of cases.matchAll(/^ {2}(.+?) {2,}(.+?) +\| (.+)$/gm)) {
  test(`${what} is ${expected}`, () => {
    const [status, failed, gone, ending] = end.split(' ')
    const { outcome, failureCode, ...verdict } = settle({
      status: status === '.' ? null : Number(status),
      failure: failure(failed),
      gone: failure(gone),
      ending: ending === '.' ? 'none' : (ending as CallEnd['ending']),
      isImplausible: false,
    })
    assert.equal(`${outcome} ${failureCode ?? '.'} ${verdict.status}`, expected)
  })
}

test('figures that cannot be right are said of an answer, but not in place of another failure', () => {
  const end = { status: 200, failure: null, gone: null, ending: 'none', isImplausible: true } as const
  assert.equal(settle(end).failureCode, 'implausible_usage')
  assert.equal(settle({ ...end, gone: failure('client_gone') }).failureCode, 'client_gone')
})
