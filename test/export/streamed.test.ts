import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '../../src/call/clock.ts'
import { ownCommand } from '../../src/cli/gateway-command.ts'
import { QueryProcess } from '../../src/query/query-process.ts'
import { spawnQuery } from '../../src/query/spawn-query.ts'
import { Jobs } from '../../src/supervisor/jobs.ts'
import { type DashboardUnderTest, errorOf, startDashboard } from '../dashboard/dashboard-under-test.ts'
import { nowMs, writeDatabase } from '../dashboard/query-database.ts'
import { variedCall } from '../store/told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { requestBytes } from '../support/exchange.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const random = seededRandom(5)
const calls = Array.from({ length: 3000 }, (_, index) => variedCall(nowMs + index * 10, index, random))

/** A dashboard whose exports are a program that is written here, with a database that it does not look at. */
async function startScripted(dir: TempDir, program: string): Promise<DashboardUnderTest> {
  writeFileSync(dir.file('calls.db'), 'x')
  const path = dir.file('program.js')
  writeFileSync(path, program)
  return startDashboard({ jobs: jobsOf(dir, [process.execPath, path]) })
}

function jobsOf(dir: TempDir, command: readonly string[]): Jobs {
  const pricingSource = 'https://example.com/list.json'
  return new Jobs({ clock: systemClock, pricingSource, command, db: dir.file('calls.db'), env: process.env })
}

/** Begins its answer, notes its process in a file, and goes on for ever. */
const endless = `
const { writeFileSync } = require('node:fs')
const go = () => { while (process.stdout.write('x'.repeat(1000) + '\\n')); process.stdout.once('drain', go) }
writeFileSync(__dirname + '/pid', String(process.pid))
go()`

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('an export over HTTP has what /api/query lists, but all of it', async () => {
  await using dir = await makeTempDir()
  writeDatabase(dir.file('calls.db'), { calls })
  const queries = new QueryProcess({
    clock: systemClock,
    deadlineMs: 60_000,
    spawn: spawnQuery(dir.file('calls.db'), {}),
    onFault: (error) => assert.fail(String(error)),
  })
  try {
    await using dashboard = await startDashboard({ queries, jobs: jobsOf(dir, ownCommand) })
    const some = 'from=2026-11-21T07:00:00%2B01:00&to=2026-11-21T06:00:20Z&min_ms=5&status=200&model='
    const model = encodeURIComponent(calls.find(({ model }) => model !== null)?.model ?? '')
    for (const [filter, format] of [
      ['', 'csv'],
      ['errors_only=true', 'ndjson'],
      [`${some}${model}&model=another`, 'ndjson'],
      ['q=upstream_http', 'csv'],
    ]) {
      const exported = await dashboard.ask('GET', `/api/export?format=${format}&${filter}`)
      assert.deepEqual([exported.status, exported.framing, exported.complete], [200, 'chunked', true])
      const listed = await dashboard.ask('GET', `/api/query?limit=10000&format=${format}&${filter}`)
      assert.ok(listed.body.length > 1000 && exported.body.equals(listed.body), filter)
      assert.match(
        exported.header('content-disposition') ?? '',
        new RegExp(`^attachment; filename="tokenweir-calls[\\w.-]*\\.${format}"$`),
      )
    }
    const parquet = await dashboard.ask('GET', '/api/export?format=parquet')
    assert.equal(parquet.body.toString('latin1', 0, 4), 'PAR1')
    assert.equal(parquet.body.toString('latin1', parquet.body.length - 4), 'PAR1')
    for (const wrong of ['format=json', 'limit=10', 'status=7', 'from=2026-11-22&to=2026-11-21']) {
      assert.equal((await dashboard.ask('GET', `/api/export?${wrong}`)).status, 400, wrong)
    }
    const head = await dashboard.ask('HEAD', '/api/export')
    assert.deepEqual([head.status, head.body.length], [200, 0])
  } finally {
    queries.close()
  }
})

test('what breaks off midway has no end', async () => {
  await using dir = await makeTempDir()
  const program = `process.stdout.write('id,started_at\\r\\n', () => process.exit(1))`
  await using dashboard = await startScripted(dir, program)
  const cut = await dashboard.ask('GET', '/api/export')
  assert.deepEqual([cut.status, cut.complete], [200, false])
  assert.equal(cut.body.toString(), 'id,started_at\r\n')
})

test('what does not begin is told of', async () => {
  await using dir = await makeTempDir()
  await using none = await startDashboard({ jobs: jobsOf(dir, ownCommand) })
  const missing = await none.ask('GET', '/api/export')
  assert.deepEqual([missing.status, errorOf(missing).code], [409, 'no_database'])
  await using failing = await startScripted(
    dir,
    `console.error('tokenweir: out of luck'); process.exitCode = 1`,
  )
  const failed = await failing.ask('GET', '/api/export')
  assert.deepEqual(
    [failed.status, errorOf(failed).code, errorOf(failed).message],
    [500, 'job_failed', 'tokenweir: out of luck'],
  )
})

test('what no program can be asked for is refused, and takes nobody’s place', async () => {
  await using dir = await makeTempDir()
  await using dashboard = await startScripted(dir, `process.stdout.write('id\\r\\n')`)
  for (const query of ['q=a%00b', 'model=%00', 'tag=a:%00', 'client=a%00b']) {
    const refused = await dashboard.ask('GET', `/api/export?${query}`)
    assert.deepEqual([refused.status, errorOf(refused).code], [400, 'invalid_parameter'])
  }
  assert.deepEqual(dashboard.faults, [])
  assert.equal((await dashboard.ask('GET', '/api/export')).status, 200)
})

test('an export ends with its reader, and three are under way at most', async () => {
  await using dir = await makeTempDir()
  await using dashboard = await startScripted(dir, endless)
  /** Reads the beginning, and then nothing. */
  const begin = async (): Promise<{ readonly client: RawClient; readonly pid: number }> => {
    const client = await openRawClient(dashboard.port)
    await client.send(requestBytes('GET', '/api/export', { host: `localhost:${dashboard.port}` }))
    await client.waitForBytes('xxx')
    client.stopReading()
    return { client, pid: Number(readFileSync(dir.file('pid'), 'utf8')) }
  }
  const readers = [await begin(), await begin(), await begin()]
  assert.equal(new Set(readers.map(({ pid }) => pid)).size, 3)
  const fourth = await dashboard.ask('GET', '/api/export')
  assert.deepEqual([fourth.status, errorOf(fourth).code], [409, 'job_running'])
  // Others are answered meanwhile.
  assert.equal((await dashboard.ask('GET', '/api/db')).status, 200)
  for (const { client } of readers) client.leave()
  await eventually('all processes are gone', () => !readers.some(({ pid }) => isRunning(pid)))
  const another = await begin()
  another.client.leave()
  await eventually('the last process is gone', () => !isRunning(another.pid))
})
