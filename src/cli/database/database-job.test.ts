import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { FoldedRangeError } from '../../call/no-answer.ts'
import { StoreError } from '../../store/sqlite/store-error.ts'
import { done, runDatabaseJob } from './database-job.ts'

const failures = [
  ['job_running', 'job_running', /^x\.db: another process is running compress, .* or import on it\.$/],
  ['missing', 'no_database', /^x\.db: There is no database yet/],
  ['empty', 'no_database', /^x\.db: The database is still being created/],
  ['foreign', 'job_failed', /^x\.db: The file belongs to another program/],
  [new FoldedRangeError(Date.UTC(2026, 10, 20, 12)), 'folded_range', /use --from 2026-11-20T12:00:00\.000Z/],
  [new StoreError('damaged', 'no tables'), 'job_failed', /^x\.db: no tables$/],
  [new Error('disk I/O error'), 'job_failed', /^x\.db: disk I\/O error\. All is kept\.$/],
] as const

test('why a job came to nothing is told in one line, with exit code 1', async () => {
  for (const [reason, code, message] of failures) {
    for (const json of [false, true]) {
      const terminal = new FakeTerminal()
      const exit = await runDatabaseJob(
        terminal,
        { db: 'x.db', json, whatStays: 'All is kept.' },
        async () => {
          if (reason instanceof Error) throw reason
          return done<{ json: object; text: string }>(reason, 'x.db')
        },
      )
      const said = json ? JSON.parse(terminal.out).error : { code, message: terminal.err.slice(11, -1) }
      assert.deepEqual([exit, said.code, json ? terminal.err : terminal.out], [1, code, ''])
      assert.match(said.message, message)
    }
  }
})
