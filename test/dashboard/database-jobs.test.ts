import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Growth } from '../../src/call/call-reader.ts'
import { systemClock } from '../../src/call/clock.ts'
import { ownCommand } from '../../src/cli/gateway-command.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { lockJob } from '../../src/store/sqlite/store-files.ts'
import { Jobs } from '../../src/supervisor/jobs.ts'
import { chatCall } from '../store/sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { parseRecord } from '../support/json-record.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { type DashboardUnderTest, errorOf, noJobs, startDashboard } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { writeCalls } from '../store/write-calls.ts'

const scriptedJob = fileURLToPath(new URL('scripted-job.ts', import.meta.url))
const world = { clock: systemClock, pricingSource: 'https://example.com/list.json' } as const
const result = { before_bytes: 300, after_bytes: 200, folded_calls: 1, duration_ms: 4 }
const resultLine = JSON.stringify(result)

/** A dashboard whose jobs do and say what is written into a folder. */
async function startScripted(dir: TempDir): Promise<DashboardUnderTest> {
  const jobs = new Jobs({
    ...world,
    command: [process.execPath, scriptedJob, dir.path],
    db: 'data/calls.db',
    env: { ...process.env, UPSTREAM_API_KEY: 'sk-secret', TOKENWEIR_ADMIN_TOKEN: 'a token of some length' },
  })
  return startDashboard({ jobs })
}

const say = (dir: TempDir, ...lines: readonly string[]): void =>
  appendFileSync(dir.file('said'), lines.map((line) => `${line}\n`).join(''))

const asked = (dir: TempDir): readonly Record<string, unknown>[] =>
  (existsSync(dir.file('asked')) ? readFileSync(dir.file('asked'), 'utf8') : '')
    .split('\n')
    .slice(0, -1)
    .map((line) => parseRecord(line))

test('compressing is answered when it is done; a second one at once is refused', async () => {
  await using dir = await makeTempDir()
  await using dashboard = await startScripted(dir)
  const first = dashboard.askJson('POST', '/api/db/compress', { keep_days: 30, dry_run: true })
  await eventually('the job runs', () => asked(dir).length === 1)
  const [job] = asked(dir)
  await eventually('it lets others go first', () => getPriority(Number(job?.['pid'])) > 0)
  const second = await dashboard.ask('POST', '/api/db/compress')
  assert.equal(second.status, 409)
  assert.equal(errorOf(second).code, 'job_running')
  say(dir, resultLine, 'exit 0')
  const answer = await first
  assert.equal(answer.status, 200)
  assert.deepEqual(parseRecord(answer.body.toString()), result)
  assert.deepEqual(job?.['args'], [
    'db',
    'compress',
    '--json',
    '--keep-days=30',
    '--db=data/calls.db',
    '--dry-run',
  ])
  assert.deepEqual(job?.['secrets'], [])

  // When it has ended the next one may begin, with the defaults.
  const third = await dashboard.ask('POST', '/api/db/compress')
  assert.equal(third.status, 200)
  assert.deepEqual(asked(dir)[1]?.['args'], [
    'db',
    'compress',
    '--json',
    '--keep-days=90',
    '--db=data/calls.db',
  ])
})

test('with async it is answered when it has begun, and the events tell the rest', async () => {
  await using dir = await makeTempDir()
  await using dashboard = await startScripted(dir)
  using events = await openEvents(dashboard.port, 'jobs')
  assert.deepEqual((await events.waitFor(1))[0], { name: 'jobs', data: { compress: null, reprice: null } })
  say(dir, '{"phase":"fold","done":1,"total":3}')
  const answer = await dashboard.ask('POST', '/api/db/compress?async=1')
  assert.equal(answer.status, 202)
  const job = parseRecord(answer.body.toString())
  assert.equal(job['state'], 'running')
  assert.deepEqual(job['progress'], { phase: 'fold', done: 1, total: 3 })
  say(dir, '{"phase":"give_back","done":3,"total":3}', resultLine, 'exit 0')
  const last = await events.until(
    () => events.events.find(({ data }) => JSON.stringify(data).includes('"done","dry_run"')),
    'the end of the job',
  )
  assert.deepEqual(last.data, {
    compress: {
      job: 'compress',
      state: 'done',
      dry_run: false,
      keep_days: 90,
      started_at: job['started_at'],
      progress: { phase: 'give_back', done: 3, total: 3 },
      result,
      error: null,
    },
    reprice: null,
  })
  // Who comes later is told how things stand.
  using later = await openEvents(dashboard.port, 'jobs')
  assert.deepEqual((await later.waitFor(1))[0]?.data, last.data)
})

test('what went wrong is told in the words of the job', async () => {
  const troubles: readonly (readonly [readonly string[], number, string, RegExp])[] = [
    [
      ['{"error":{"code":"job_running","message":"Another process."}}', 'exit 1'],
      409,
      'job_running',
      /^Another/,
    ],
    [['{"error":{"code":"no_database","message":"None yet."}}', 'exit 1'], 409, 'no_database', /^None yet/],
    [['no JSON', '"text"', 'null', 'exit 7'], 500, 'job_failed', /ended with exit code 7/],
  ]
  for (const query of ['', '?async=true']) {
    for (const [lines, status, code, message] of troubles) {
      await using dir = await makeTempDir()
      await using dashboard = await startScripted(dir)
      say(dir, ...lines)
      const answer = await dashboard.ask('POST', `/api/db/compress${query}`)
      assert.equal(answer.status, status)
      assert.equal(errorOf(answer).code, code)
      assert.match(errorOf(answer).message, message)
      assert.deepEqual(dashboard.faults, [])
    }
  }
})

test('what it is told is looked at before anything is begun', async () => {
  await using dashboard = await startDashboard()
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ keep_days: 0 }, 'keep_days'],
    [{ keep_days: 1.5 }, 'keep_days'],
    [{ keep_days: '90' }, 'keep_days'],
    [{ keep_days: 1e9 }, 'keep_days'],
    [{ dry_run: 1 }, 'dry_run'],
    [{ db: '/etc/passwd' }, ''],
    [[], ''],
  ]
  for (const [body, param] of wrong) {
    const answer = await dashboard.askJson('POST', '/api/db/compress', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal(errorOf(answer).code, 'invalid_body')
    if (param !== '') assert.match(errorOf(answer).message, new RegExp(`^${param} `))
  }
  const bad = await dashboard.ask('POST', '/api/db/compress?async=maybe')
  assert.equal(errorOf(bad).code, 'invalid_parameter')
  assert.deepEqual(dashboard.faults, [])
})

test('a job that cannot be started is told of, and the next one may be tried', async () => {
  const jobs = new Jobs({ ...world, command: ['/nowhere/node'], db: 'x', env: {} })
  await using dashboard = await startDashboard({ jobs })
  for (let i = 0; i < 2; i++) {
    const answer = await dashboard.ask('POST', '/api/db/compress')
    assert.equal(answer.status, 500)
    assert.match(errorOf(answer).message, /could not be started/)
  }
})

test('a job goes on when the dashboard lets it go', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('data/calls.db')
  const dayMs = 24 * 3_600_000
  const oldMs = Date.now() - 100 * dayMs
  const old = Array.from({ length: 2000 }, (_, index) => chatCall((oldMs + 1000 * index) * 4096))
  // An idle database would keep its last 90 days.
  const calls = [...old, chatCall(Date.now() * 4096)]
  const database = openForWriting(path)
  writeCalls(database, calls)
  const jobs = new Jobs({ ...world, command: ownCommand, db: path, env: process.env })
  const run = jobs.compress(90, false)
  await run.begun
  jobs.close()
  const left = database.prepare('SELECT count(*) AS n FROM calls')
  const isDone = (): boolean => {
    using job = lockJob(path)
    return job !== null
  }
  await eventually('it has done its work', () => left.get()?.['n'] === 1 && isDone())
  database.close()
  rmSync(path)
})

test('the database: where it is, and how large with its log', async () => {
  await using dir = await makeTempDir()
  const db = dir.file('calls.db')
  const jobs = new Jobs({ ...world, command: [], db, env: {} })
  await using dashboard = await startDashboard({ jobs })
  const ask = async (): Promise<Record<string, unknown>> =>
    parseRecord((await dashboard.ask('GET', '/api/db')).body.toString())
  const unknown = { growth_bytes_per_day: null, disk_full_at: null }
  assert.deepEqual(await ask(), { file: db, bytes: null, disk_free_bytes: null, ...unknown })
  appendFileSync(db, 'twelve bytes')
  const { disk_free_bytes: free, ...size } = await ask()
  assert.ok(Number(free) > 0)
  assert.deepEqual(size, { file: db, bytes: 12, ...unknown }, 'nobody can read it')
  appendFileSync(`${db}-wal`, 'eight by')
  assert.equal((await ask())['bytes'], 20)
})

test('the database: how fast it grows, and when the disk is full', async () => {
  const dayMs = 86_400_000
  const growthOf = async (growth: Growth, freeBytes: number | null): Promise<Record<string, unknown>> => {
    const file = { file: '/data/calls.db', bytes: 1_000_000, disk_free_bytes: freeBytes }
    const jobs = { ...noJobs, file: () => file }
    const body = new TextEncoder().encode(JSON.stringify(growth))
    const answer = { kind: 'answer', format: 'json', nextCursor: null, body, tag: 'a' } as const
    await using dashboard = await startDashboard({
      jobs,
      queries: { ask: async () => answer },
      clock: systemClock,
    })
    const told = parseRecord((await dashboard.ask('GET', '/api/db')).body.toString())
    const perDay = told['growth_bytes_per_day']
    // The clock goes on meanwhile.
    return {
      perDay: perDay === null ? null : Math.round(Number(perDay) / 100) * 100,
      isFull: told['disk_full_at'] !== null,
    }
  }
  const firstMs = Date.now() - 2 * dayMs
  const whole = { calls: 2000, ever: 2000, recent: 400, firstMs }
  // 500 bytes a call, 200 calls a day.
  assert.deepEqual(await growthOf(whole, 1_000_000), { perDay: 100_000, isFull: true })
  assert.deepEqual(await growthOf(whole, null), { perDay: 100_000, isFull: false })
  assert.deepEqual(await growthOf(whole, 1e15), { perDay: 100_000, isFull: false })
  const folded = { ...whole, calls: 400, ever: 9000 }
  assert.deepEqual(await growthOf(folded, null), { perDay: 96_000, isFull: false }, 'old sums do not count')
  const young = { ...whole, firstMs: Date.now() - 60_000 }
  assert.deepEqual(await growthOf(young, 1), { perDay: null, isFull: false })
})
