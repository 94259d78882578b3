import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CrashStatus } from '../api/process-status.ts'
import { crashStatusOf } from './crash-text.ts'

const crash: Omit<CrashStatus, 'text'> = {
  pid: 7,
  at: '2026-11-25T06:00:00.000Z',
  exit_code: null,
  signal: 'SIGKILL',
  in_a_row: 1,
  state: 'started_again',
  failed_starts: 0,
  next_start_at: null,
}
const text = (change: Partial<CrashStatus>): string => crashStatusOf({ ...crash, ...change }).text

test('a crash is told with how the process ended and what the dashboard does', () => {
  assert.equal(text({}), 'The gateway (process 7) crashed (SIGKILL). The dashboard has started it again.')
  assert.match(text({ signal: null, exit_code: 3 }), /crashed \(exit code 3\)\./)
  assert.match(text({ signal: null, state: 'left' }), /crashed\. It was started by hand/)
  assert.match(
    text({ in_a_row: 3, state: 'waiting' }),
    /This is crash 3 in a row.*about to start it again\.$/,
  )
  assert.match(text({ failed_starts: 10, state: 'given_up' }), /not come up in 10 starts since\..*no more/)
})
