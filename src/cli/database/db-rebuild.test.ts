import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import type { rebuildStore } from '../../store/jobs/rebuild-store.ts'
import * as dbRebuild from './db-rebuild.ts'
import { OptionError } from '../parse-options.ts'

const outcome = { days: 90, hours: 2160, wrongHours: 3, wrongDays: 1, durationMs: 4321 }

async function run(
  rebuild: typeof rebuildStore,
  { args = ['--db', 'x.db'], isWatched = false } = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const terminal = new FakeTerminal({ isWatched })
  const code = await dbRebuild.run(...given(dbRebuild, args, terminal), rebuild)
  return { code, stdout: terminal.out, stderr: terminal.err }
}

test('it says in one line what was counted, and what was made anew', async () => {
  assert.deepEqual(await run(() => Promise.resolve(outcome)), {
    code: 0,
    stdout:
      'x.db: 2,160 hours of 90 days were recounted in 4.32 s; 3 hours and the totals of 1 day were wrong; the totals of all recorded calls were recomputed.\n',
    stderr: '',
  })
  const { stdout } = await run(() => Promise.resolve({ ...outcome, wrongHours: 0, wrongDays: 0 }))
  assert.match(stdout, /; all were correct\.\n$/)
})

test('who watches sees how far it has come', async () => {
  const rebuild: typeof rebuildStore = (_path, { onProgress }) => {
    onProgress({ done: 7, total: 90 })
    return Promise.resolve(outcome)
  }
  assert.match((await run(rebuild, { isWatched: true })).stdout, /\rrecounting: day 7 of 90\r +\rx\.db: /)
  assert.doesNotMatch((await run(rebuild)).stdout, /day 7/)
})

test('after a fault it says what stays; it has no option of the check', async () => {
  const { code, stderr } = await run(() => Promise.reject(new Error('disk I/O error')))
  assert.equal(code, 1)
  assert.match(stderr, /x\.db: disk I\/O error\. Totals corrected so far stay correct/)
  await assert.rejects(
    run(() => Promise.resolve(outcome), { args: ['--full'] }),
    OptionError,
  )
})
