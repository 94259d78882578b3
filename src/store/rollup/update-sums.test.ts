import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatCall, idAt } from '../../../test/store/sample-call.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import type { Warning } from '../../call/call-sink.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { updateSums } from './update-sums.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

async function setUp(count: number) {
  const dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const other = openForWriting(dir.file('calls.db'))
  const calls = Array.from({ length: count }, (_, i) => chatCall(idAt(i)))
  writeCalls(database, calls)
  const clock = new FakeClock()
  const warnings: (Warning | null)[] = []
  let stop = (): void => undefined
  return {
    database,
    other,
    clock,
    warnings,
    start: () => {
      stop = updateSums(database, clock, (warning) => warnings.push(warning))
    },
    rolled: () =>
      Number(
        other.prepare('SELECT sum(calls) AS n FROM sums WHERE grouping_id = 0 AND minutes = 60').get()?.['n'],
      ),
    [Symbol.asyncDispose]: async () => {
      stop()
      database.close()
      other.close()
      await dir[Symbol.asyncDispose]()
    },
  }
}

test('it goes on in small steps until it has caught up, and looks again', async () => {
  await using run = await setUp(3000)
  run.start()
  const steps: number[] = []
  while (run.rolled() < 3000) {
    steps.push(run.rolled())
    await run.clock.advance(10)
  }
  assert.ok(steps.length > 3, `${steps.length} steps`)
  assert.ok(run.warnings.every((warning) => warning === null))
})

test('another process that holds the lock is waited for without a word', async () => {
  await using run = await setUp(10)
  run.other.exec('BEGIN IMMEDIATE')
  run.start()
  await run.clock.advance(100)
  assert.ok(run.warnings.every((warning) => warning === null))
  run.other.exec('COMMIT')
  assert.equal(run.rolled(), 0)
  await run.clock.advance(2000)
  await run.clock.advance(100)
  assert.equal(run.rolled(), 10)
  assert.equal(run.database.prepare('PRAGMA busy_timeout').get()?.['timeout'], 5000)
})

test('its troubles are a warning, and calls can be written meanwhile', async () => {
  await using run = await setUp(10)
  run.other.exec('ALTER TABLE sums RENAME TO lost')
  run.start()
  await run.clock.advance(100)
  assert.equal(run.warnings.at(-1)?.code, 'rollups_behind')
  assert.equal(run.database.isTransaction, false)
  run.other.exec('ALTER TABLE lost RENAME TO sums')
  await run.clock.advance(10_000)
  await run.clock.advance(100)
  assert.equal(run.rolled(), 10)
  assert.equal(run.warnings.at(-1), null)
})
