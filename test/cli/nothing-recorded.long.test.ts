import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { HealthReport } from '../../src/api/health-report.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { startUpProcess, type UpProcess } from '../support/up-process.ts'

/** A message of the system as it comes. */
const systemWords = /\bE[A-Z]{3,}: /
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

test('where nothing can be written, limits, upstreams and prices are refused, with a gateway and without', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('data'), '')
  const env = { TMPDIR: dir.path }
  const changes: readonly (readonly [file: string, ...args: string[]])[] = [
    ['clients.json', 'clients', 'set', 'nightly', '--max-concurrent', '1'],
    ['clients.json', 'clients', 'name', '0123abcd', 'nightly'],
    ['upstreams.json', 'upstreams', 'add', 'local', '--url', 'http://127.0.0.1:9'],
    ['model_costs.json', 'costs', 'set', 'm', '--input', '1', '--output', '1'],
  ]
  const areRefused = async (): Promise<void> => {
    for (const [file, ...args] of changes) {
      await using command = startCommandProcess({ args, directory: dir.path, env })
      const { code } = await command.exited
      assert.equal(code, 1, `${args.join(' ')}: ${command.stdout}${command.stderr}`)
      assert.ok(command.stderr.includes(`data/${file} cannot be written: `), command.stderr)
    }
  }
  {
    await using upstream = await startSimulatedUpstream()
    await using up = await startUpProcess({
      directory: dir.path,
      args: ['--upstream', upstream.baseUrl],
      env,
    })
    await areRefused()
    const body = JSON.stringify({ max_concurrent: 1 })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${up.dashboard}/api/clients/nightly`, { method: 'PUT', headers, body })
    assert.match(await answer.text(), /clients_not_kept/)
    assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  }
  await areRefused()
})

test('a damaged database is named on the terminal', async () => {
  await using dir = await makeTempDir()
  mkdirSync(dir.file('data'))
  writeFileSync(dir.file('data/llm_telemetry.db'), Buffer.alloc(18_000, 0xfe))
  await serves(dir, 'database_damaged', /data\/llm_telemetry\.db was damaged .*renamed to \*\.corrupt/)
  assert.ok(existsSync(dir.file('data/llm_telemetry.db')))
})

const spend = 'request_id,call_type,spend,prompt_tokens,completion_tokens,startTime,endTime,model\n'
const spendRow = 'r-1,acompletion,0.01,100,20,2026-11-18 04:00:00,2026-11-18 04:00:02,gpt-4.1\n'

for (const [db, cause, absence] of [
  ['/proc/x.db', 'there is no such file or folder; create it, or name another', 'There is no database yet'],
  ['file/x.db', 'something has that name already; name another', 'There is no database yet'],
  ['folder', 'this is a folder, not a file; name a file', 'This is a folder or a device'],
] as const) {
  test(`--db ${db}: the gateway and the commands say what is wrong with it, and what to do`, async () => {
    await using dir = await makeTempDir()
    writeFileSync(dir.file('file'), '')
    mkdirSync(dir.file('folder'))
    writeFileSync(dir.file('spend.csv'), spend + spendRow)
    const gatewayArgs = ['gateway', '--port', '0', '--host', '127.0.0.1', '--upstream', 'http://127.0.0.1:9']
    const started = (args: readonly string[]) =>
      startCommandProcess({ args: [...args, '--db', db], directory: dir.path })
    await using gateway = started(gatewayArgs)
    const said = await gateway.waitForOutput(/warning: .*cannot be recorded.*/)
    assert.ok(said[0].includes(`${db}: ${cause}`), said[0])
    await gateway.stop()
    assert.doesNotMatch(gateway.stdout + gateway.stderr, systemWords)
    for (const args of [['calls'], ['db', 'check'], ['db', 'import', 'spend.csv']]) {
      await using command = started(args)
      const { code } = await command.exited
      const words = args[1] === 'import' && db !== 'folder' ? cause : absence
      assert.equal(code, 1, args.join(' '))
      assert.ok(command.stderr.includes(`${db}: ${words}`), command.stderr)
      assert.match(command.stderr, /name (?:another|a file)/i)
      assert.doesNotMatch(command.stderr, systemWords)
    }
  })
}
