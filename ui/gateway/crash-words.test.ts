import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CrashStatus } from '../../src/api/process-status.ts'
import { crashWords } from './crash-words.ts'

const crash: CrashStatus = {
  pid: 7,
  at: '2026-11-21T06:00:00.000Z',
  exit_code: null,
  signal: 'SIGKILL',
  in_a_row: 1,
  state: 'started_again',
  failed_starts: 0,
  next_start_at: null,
}
const words = (change: Partial<CrashStatus>): string =>
  crashWords({ ...crash, ...change }, (ms) => new Date(ms).toISOString().slice(11, 19))

test('a crash is told with how the process ended and what the dashboard does', () => {
  assert.equal(
    words({}),
    'The gateway (process 7) ended at 06:00:00 without being told to (SIGKILL). The dashboard has started the gateway again.',
  )
  assert.match(words({ signal: null, exit_code: 134 }), /\(exit code 134\)/)
  assert.match(words({ signal: null, state: 'left' }), /without being told to\. It was started by hand/)
})

test('a loop, starts that failed, and the next start are told', () => {
  const next = { state: 'waiting', next_start_at: '2026-11-21T06:00:08.000Z' } as const
  assert.match(
    words({ ...next, in_a_row: 3 }),
    /This is crash 3 in a row.* starts the gateway again at 06:00:08\.$/,
  )
  assert.match(words({ ...next, failed_starts: 1 }), /1 start since did not bring it up/)
  assert.match(words({ state: 'given_up', failed_starts: 10 }), /did not come up in 10 starts, and/)
})
