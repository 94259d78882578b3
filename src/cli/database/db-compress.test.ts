import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompressResult } from '../../api/database-job.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { type CompressRequest, type compressStore } from '../../store/jobs/compress-store.ts'
import * as dbCompress from './db-compress.ts'
import { OptionError } from '../parse-options.ts'

const outcome: CompressResult = {
  before_bytes: 3 * 2 ** 30,
  after_bytes: 1.5 * 2 ** 30,
  folded_calls: 1_234_567,
  duration_ms: 61_235,
}

async function run(
  args: readonly string[],
  compress: typeof compressStore,
  isWatched: boolean = false,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const terminal = new FakeTerminal({ isWatched })
  const code = await dbCompress.run(...given(dbCompress, args, terminal), compress)
  return { code, stdout: terminal.out, stderr: terminal.err }
}

const lines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))

test('what was done is told in one sentence', async () => {
  const requests: (CompressRequest & { readonly path: string })[] = []
  const done = await run([], (path, request) => {
    requests.push({ path, ...request })
    return Promise.resolve(outcome)
  })
  assert.deepEqual(requests, [{ path: 'data/llm_telemetry.db', keepDays: 90, dryRun: false }])
  assert.deepEqual(done, {
    code: 0,
    stdout:
      '1,234,567 calls older than 90 days were rolled up in 1 min 1 s; data/llm_telemetry.db: 3.22 GB → 1.61 GB.\n',
    stderr: '',
  })
})

test('a dry run says that nothing was changed', async () => {
  const { stdout } = await run(['--dry-run', '--keep-days', '7', '--db', 'x.db'], (_path, request) => {
    assert.deepEqual(request, { keepDays: 7, dryRun: true })
    return Promise.resolve({ ...outcome, folded_calls: 1 })
  })
  assert.equal(
    stdout,
    '1 call older than 7 days would be rolled up; x.db would shrink: 3.22 GB → about 1.61 GB. Nothing was changed.\n',
  )
})

test('with --json progress comes at each phase and now and then, and the result last', async () => {
  const { code, stdout } = await run(['--json'], async (_path, _request, { clock, onProgress }) => {
    onProgress({ phase: 'fold', done: 0, total: 9 })
    onProgress({ phase: 'fold', done: 1, total: 9 })
    assert.ok(clock instanceof FakeClock)
    await clock.advance(250)
    onProgress({ phase: 'fold', done: 2, total: 9 })
    onProgress({ phase: 'give_back', done: 0, total: 3 })
    return outcome
  })
  assert.equal(code, 0)
  assert.deepEqual(lines(stdout), [
    { phase: 'fold', done: 0, total: 9 },
    { phase: 'fold', done: 2, total: 9 },
    { phase: 'give_back', done: 0, total: 3 },
    { before_bytes: 3 * 2 ** 30, after_bytes: 1.5 * 2 ** 30, folded_calls: 1_234_567, duration_ms: 61_235 },
  ])
})

test('on a terminal progress is one line that is gone at the end; elsewhere there is none', async () => {
  const compress: typeof compressStore = (_path, _request, { onProgress }) => {
    onProgress({ phase: 'roll_up', done: 0, total: 0 })
    onProgress({ phase: 'fold', done: 1, total: 3 })
    return Promise.resolve(outcome)
  }
  const { stdout } = await run([], compress, true)
  assert.match(stdout, /^\rrolling up old calls: 33%\r +\r1,234,567 calls .*\n$/)
  assert.match((await run([], compress)).stdout, /^1,234,567 calls .*\n$/)
})

test('after a fault it says that nothing is lost', async () => {
  const { code, stderr } = await run(['--db', 'x.db'], () => Promise.reject(new Error('disk I/O error')))
  assert.equal(code, 1)
  assert.match(stderr, /x\.db: disk I\/O error\. .*nothing is lost/)
})

test('a wrong value is refused before anything is done', async () => {
  const never = (): never => assert.fail('not asked')
  for (const args of [['--keep-days', '0'], ['--keep-days', 'x'], ['--wat'], ['now']])
    await assert.rejects(run(args, never), OptionError)
})
