import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { HealthReport } from '../../src/api/health-report.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { startUpProcess, type UpProcess } from '../support/up-process.ts'
import { eventually } from '../support/eventually.ts'

const file = 'data/llm_telemetry.db'
/** As the older proxy makes it. */
const schema = `CREATE TABLE api_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, model TEXT,
  endpoint TEXT, input_tokens INTEGER, output_tokens INTEGER, ttfb_ms REAL, total_ms REAL, tokens_per_s REAL,
  server_running REAL, server_tok_s REAL, server_model TEXT, status_code INTEGER, error TEXT,
  call_type TEXT DEFAULT 'chat', calls_count INTEGER DEFAULT 1, route_name TEXT, upstream_url TEXT,
  retries_attempted INTEGER DEFAULT 0, absorbed_429 INTEGER DEFAULT 0);
  CREATE TABLE proxy_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL);`

const rows = [
  [
    '2026-11-18T04:00:01.500000+00:00',
    'old-model',
    '/v1/chat/completions',
    1000,
    200,
    300,
    1500,
    200,
    null,
    'chat',
    1,
  ],
  ['2026-11-18T05:00:00+00:00', 'old-model', '/v1/embeddings', 50, null, 20, 40, 200, null, 'embedding', 1],
  [
    '2026-11-18T06:00:00+00:00',
    'old-model',
    '/v1/chat/completions',
    null,
    null,
    null,
    90,
    502,
    'no luck',
    'chat',
    1,
  ],
  [
    '2026-10-26T00:00:00+00:00',
    'old-model',
    '/v1/chat/completions',
    3001,
    700,
    100,
    900,
    200,
    null,
    'chat',
    3,
  ],
  ['not a time', 'old-model', '/v1/chat/completions', 1, 1, 1, 1, 200, null, 'chat', 1],
]
const prices = {
  'old-model': [
    {
      effective_date: '2026-01-01',
      input_cost_per_million: 1,
      output_cost_per_million: 2,
      provider_source: 'e-INFRA',
    },
  ],
}

function layOut(dir: TempDir): void {
  mkdirSync(dir.file('data'))
  const database = new DatabaseSync(dir.file(file))
  database.exec(`PRAGMA journal_mode = WAL; ${schema}`)
  const insert = database.prepare(
    `INSERT INTO api_calls (timestamp, model, endpoint, input_tokens, output_tokens, ttfb_ms, total_ms, status_code, error,
      call_type, calls_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const row of rows) insert.run(...row)
  database.close()
  writeFileSync(dir.file('data/model_costs.json'), JSON.stringify(prices))
}

async function warningsOf(up: UpProcess): Promise<readonly string[]> {
  const { warnings } = (await (await fetch(`${up.gateway}/health`)).json()) as HealthReport
  return warnings.map(({ code }) => code)
}

async function callsOf(up: UpProcess, query = ''): Promise<readonly CallJson[]> {
  const answer = await fetch(`${up.dashboard}/api/query?${query}`)
  return ((await answer.json()) as { readonly calls: readonly CallJson[] }).calls
}

test('in the older proxy’s folder calls are recorded beside its database, and one command moves everything', async () => {
  await using dir = await makeTempDir()
  layOut(dir)
  const before = readFileSync(dir.file(file))
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', upstream.baseUrl] })
  await up.command.waitForOutput(
    /llm_telemetry\.db is the database of the older Python proxy, with 5 rows of calls that were not imported: .* recorded in data\/tokenweir\.db\. .*tokenweir db import data\/llm_telemetry\.db/,
  )
  // Another one while the past is read, if that takes long.
  await eventually('this warning alone', async () => (await warningsOf(up)).join() === 'older_proxy')
  const answer = await fetch(`${up.gateway}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  await answer.arrayBuffer()
  await eventually('the new call to be listed', async () => (await callsOf(up)).length === 1)

  for (const added of [6, 0]) {
    await using command = startCommandProcess({
      args: ['db', 'import', file, '--price', '--json'],
      directory: dir.path,
    })
    // One row is flawed.
    assert.deepEqual(await command.exited, { code: 1, signal: null }, command.stderr)
    const { result } = JSON.parse(command.stdout.trim().split('\n').at(-1) ?? '')
    assert.deepEqual([result.source, result.added, result.present], ['api-calls', added, 6 - added])
    assert.deepEqual(result.problems, [
      { count: 1, problem: 'column timestamp: "not a time" is not a time', lines: [5] },
    ])
  }
  await eventually('the warning to end', async () => (await warningsOf(up)).length === 0)
  assert.deepEqual(readFileSync(dir.file(file)), before)

  const calls = await callsOf(up, 'source=api-calls')
  const told = calls.map((call) => [
    call.started_at,
    call.call_type,
    call.outcome,
    call.input_tokens,
    call.cost_usd,
    call.tags,
  ])
  const sum = 'summed:14d'
  assert.deepEqual(told, [
    ['2026-11-18T05:59:59.910Z', 'chat', 'upstream_error', null, null, null],
    ['2026-11-18T04:59:59.960Z', 'embedding', 'ok', 50, 0.000_05, null],
    ['2026-11-18T04:00:00.000Z', 'chat', 'ok', 1000, 0.0014, null],
    ['2026-11-04T08:00:00.000Z', 'chat', 'ok', 1001, 0.001_469, sum],
    ['2026-10-30T16:00:00.000Z', 'chat', 'ok', 1000, 0.001_466, sum],
    ['2026-10-26T00:00:00.000Z', 'chat', 'ok', 1000, 0.001_466, sum],
  ])
  // The older proxy goes on recording.
  const proxy = new DatabaseSync(dir.file(file), { timeout: 20_000 })
  proxy.exec("INSERT INTO api_calls (timestamp, model) VALUES ('2026-11-19T04:00:00+00:00', 'old-model')")
  proxy.close()
  await eventually('the warning to be back', async () => (await warningsOf(up)).includes('older_proxy'))
  // What another gateway spent is nothing of this one's budget.
  const health = (await (await fetch(`${up.gateway}/health`)).json()) as HealthReport
  assert.ok(health.token_budget.total_used < 1000)
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
})

test('without a gateway its calls are found all the same, and prices of another folder come along', async () => {
  await using dir = await makeTempDir()
  layOut(dir)
  mkdirSync(dir.file('new'))
  const run = async (directory: string, ...args: readonly string[]): Promise<string> => {
    await using command = startCommandProcess({ args, directory })
    const code = args.includes('import') ? 1 : 0
    assert.deepEqual(await command.exited, { code, signal: null }, command.stderr)
    return command.stdout
  }
  assert.match(
    await run(dir.path, 'db', 'import', file, '--dry-run'),
    /6 calls .* would be added.*\n.*row 5: column timestamp/,
  )
  assert.match(
    await run(dir.path, 'db', 'import', file),
    /^6 calls of the database of the older Python proxy/,
  )
  assert.match(await run(dir.path, 'calls', '--recent', '2'), /old-model/)
  const moved = await run(dir.file('new'), 'db', 'import', `../${file}`)
  assert.match(moved, /\n1 price of its model_costs\.json came along/)
  assert.match(await run(dir.file('new'), 'costs', 'show', 'old-model'), /e-INFRA|old-model/)
})
