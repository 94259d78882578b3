import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { HealthReport } from '../../src/api/health-report.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../supervisor/eventually.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { startUpProcess, type UpProcess } from '../support/up-process.ts'

const atTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /

/** Starts `up`, has a call served, and waits until the terminal and `/health` say what is wrong. */
async function serves(dir: TempDir, code: string, words: RegExp): Promise<readonly string[]> {
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({
    directory: dir.path,
    args: ['--upstream', upstream.baseUrl],
    env: { TMPDIR: dir.path },
  })
  const answer = await fetch(`${up.gateway}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  await up.command.waitForOutput(words)
  const health = (await (await fetch(`${up.gateway}/health`)).json()) as HealthReport
  assert.equal(health.status, 'degraded')
  assert.ok(health.warnings.some((warning) => warning.code === code && words.test(warning.message)))
  // The gateway tells its log by itself, each second: the dashboard may have heard of it sooner.
  let lines = await logOf(up)
  await eventually('the log to tell it', async () => {
    lines = await logOf(up)
    return lines.some((line) => words.test(line))
  })
  for (const line of lines) assert.match(line, atTime)
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  return lines
}

async function logOf(up: UpProcess): Promise<readonly string[]> {
  const answer = await fetch(`${up.dashboard}/api/proxy/logs`)
  return ((await answer.json()) as { readonly logs: readonly string[] }).logs
}

test('where nothing can be written, calls are served, and it is said that they are not recorded', async () => {
  await using dir = await makeTempDir()
  // Also for root, to whom no folder's rights say no.
  writeFileSync(dir.file('data'), '')
  const words = /data\/llm_telemetry\.db: .*calls are served, but cannot be recorded/
  const log = await serves(dir, 'database_unavailable', words)
  assert.doesNotMatch(log.join('\n'), /(?:is|are) recorded/)
})

test("an older proxy's database is left as it is, and the terminal says how to go round it", async () => {
  await using dir = await makeTempDir()
  mkdirSync(dir.file('data'))
  const database = new DatabaseSync(dir.file('data/llm_telemetry.db'))
  database.exec('CREATE TABLE api_calls (id INTEGER PRIMARY KEY, timestamp TEXT, model TEXT)')
  database.exec("INSERT INTO api_calls (timestamp, model) VALUES ('2026-11-21T04:00:00', 'm')")
  database.close()
  const before = readFileSync(dir.file('data/llm_telemetry.db'))
  const words = /another program .*--db data\/tokenweir\.db.*cannot be recorded/
  const log = await serves(dir, 'database_foreign', words)
  assert.doesNotMatch(log.join('\n'), /(?:is|are) recorded/)
  assert.deepEqual(readFileSync(dir.file('data/llm_telemetry.db')), before)

  await using gateway = startCommandProcess({
    args: ['gateway', '--port', '0', '--host', '127.0.0.1', '--db', 'data/tokenweir.db'],
    directory: dir.path,
  })
  await gateway.waitForOutput(/calls are recorded in data\/tokenweir\.db/)
  await using calls = startCommandProcess({ args: ['calls'], directory: dir.path })
  await calls.exited
  assert.match(calls.stderr, /reading .*data\/tokenweir\.db, of the gateway that runs \(process \d+\)/)
  const prices = JSON.parse(readFileSync(dir.file('data/model_costs.json'), 'utf8')) as { models: object }
  assert.ok(Object.keys(prices.models).length > 1000, 'the first start leaves the prices')
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
})

test('a damaged database is named on the terminal', async () => {
  await using dir = await makeTempDir()
  mkdirSync(dir.file('data'))
  writeFileSync(dir.file('data/llm_telemetry.db'), 'no database at all'.repeat(1000))
  await serves(dir, 'database_damaged', /data\/llm_telemetry\.db was damaged .*kept beside as \*\.corrupt/)
  assert.ok(existsSync(dir.file('data/llm_telemetry.db')))
})
