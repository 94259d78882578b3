/** Gateways and dashboards as processes, each in a folder of its own, that share through one PostgreSQL. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connectRows } from '../../src/share/rows/row-connection.ts'
import { noPrices } from '../../src/pricing/model-costs.ts'
import { priceFileText } from '../../src/pricing/price-file.ts'
import { openForReading } from '../../src/store/sqlite/open-store.ts'
import { rowsOf } from '../store/rows-of.ts'
import { chatCall, idAt } from '../store/sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { startPostgres } from '../support/postgres.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { makeFile, share, untilCount } from './shared-file.ts'

const postgres = await startPostgres()
after(() => postgres[Symbol.asyncDispose]())

function countIn(path: string): number {
  const opened = openForReading(path)
  if (typeof opened === 'string') return 0
  using database = opened
  return Number(rowsOf(database, 'SELECT count(*) AS n FROM calls')[0]?.['n'])
}

/** Asks until the answer is yes. */
async function untilSaid(what: string, ask: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await ask())) {
    assert.ok(performance.now() < deadline, `waited in vain until ${what}`)
    await delay(20)
  }
}

test('two gateways and two dashboards, each on a machine of its own, show the same calls; what waits is a warning', async () => {
  const url = await postgres.database('machines')
  await using folder = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const env = { TOKENWEIR_SHARE: url }
  const args = ['--share', 'on']
  await using a = await startGatewayProcess({ upstream: upstream.baseUrl, args, env })
  await using b = await startGatewayProcess({ upstream: upstream.baseUrl, args, env })
  const db = (directory: string): string => join(directory, 'telemetry.db')
  const shows = ['--db', 'telemetry.db', ...args]
  await using beside = await startDashboardProcess({ directory: a.directory, args: shows, env })
  await using alone = await startDashboardProcess({ directory: folder.path, args: shows, env })
  const call = async (gateway: { readonly baseUrl: string }): Promise<void> => {
    const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hello' }] })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, init)
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  }
  for (let round = 0; round < 6; round++) await Promise.all([call(a), call(b)])
  const shown = async (dashboard: typeof alone): Promise<readonly unknown[]> => {
    const { calls } = (await (await dashboard.ask('GET', '/api/query?limit=100')).json()) as {
      calls: readonly unknown[]
    }
    return calls
  }
  for (const directory of [beside.directory, alone.directory])
    await eventually('all calls are there', () => countIn(db(directory)) === 12)
  await eventually('its own are there', () => countIn(db(b.directory)) >= 6)
  assert.equal(countIn(db(b.directory)), 6)
  assert.deepEqual(await shown(alone), await shown(beside))
  assert.equal(new Set((await shown(alone)).map((each) => (each as { instance: string }).instance)).size, 2)

  const warned = async (): Promise<string> => JSON.stringify((await a.health())['warnings'])
  const connection = await connectRows(url)
  await connection.query('BEGIN')
  await connection.query('SELECT 1 FROM tokenweir.row_state FOR UPDATE')
  await call(a)
  await untilSaid('the gateway warns', async () => (await warned()).includes('"store_behind"'))
  connection.close()
  await untilSaid('all is well again', async () => !(await warned()).includes('store_behind'))
  await eventually('the call that waited is there', () => countIn(db(alone.directory)) === 13)
  for (const said of [a.stdout, a.stderr, beside.command.stdout, alone.command.stdout])
    assert.ok(!said.includes('postgres://'), said)
})

test('a client’s limit counts the calls of its own machine, before and after a restart', async () => {
  const url = await postgres.database('own_limits')
  await using upstream = await startSimulatedUpstream()
  const settings = { upstream: upstream.baseUrl, args: ['--share', 'on'], env: { TOKENWEIR_SHARE: url } }
  await using folder = await makeTempDir()
  const directory = folder.path
  writeFileSync(join(directory, 'clients.json'), JSON.stringify({ agent: { token_limit: 1_000_000 } }))
  const a = await startGatewayProcess({ ...settings, directory })
  await using b = await startGatewayProcess(settings)
  const shows = ['--db', 'telemetry.db', ...settings.args]
  await using _beside = await startDashboardProcess({ directory, args: shows, env: settings.env })
  const call = async (gateway: { readonly baseUrl: string }): Promise<void> => {
    const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { 'content-type': 'application/json', 'x-tokenweir-client': 'agent' }
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', body, headers })
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  }
  const used = async (gateway: typeof a): Promise<readonly unknown[]> => {
    const { clients, token_budget: budget } = await gateway.health()
    const { used_tokens: tokens } = (clients as { client: string; used_tokens: number | null }[]).find(
      ({ client }) => client === 'agent',
    )!
    return [tokens, asRecord(budget)['total_used']]
  }
  await call(a)
  for (let calls = 0; calls < 3; calls++) await call(b)
  const path = join(directory, 'telemetry.db')
  await eventually('the calls of the other machine are there', () => countIn(path) === 4)
  const [before] = await used(a)
  assert.ok(Number(before) > 0)
  await a.stop()
  await using again = await startGatewayProcess({ ...settings, directory })
  await untilSaid('it knows what was used before', async () => (await used(again))[0] !== null)
  assert.equal((await used(again))[0], before)
  await again.stop()
  // Neither does the budget of a gateway that shares no more.
  await using alone = await startGatewayProcess({ upstream: upstream.baseUrl, directory })
  // The gateway reads the client's hours one by one, so that this sum comes later than the whole one.
  await untilSaid('it knows what was used before', async () => {
    const [own, all] = await used(alone)
    return own !== null && all !== 0
  })
  assert.deepEqual(await used(alone), [before, before])
})

test('--share without an address says what to set', async () => {
  await using folder = await makeTempDir()
  const env = { TOKENWEIR_SHARE: undefined }
  for (const args of [
    ['gateway', '--share', 'on', '--port', '0'],
    ['dashboard', '--share', 'on', '--port', '0'],
    ['db', 'move', '--to-share'],
  ]) {
    await using command = startCommandProcess({ args, directory: folder.path, env })
    assert.equal((await command.exited).code, 2)
    assert.match(command.stderr, /TOKENWEIR_SHARE/)
  }
})

test('each command that shares starts in an empty folder, or says what is missing there', async () => {
  const url = await postgres.database('empty')
  await using upstream = await startSimulatedUpstream()
  const env = { TOKENWEIR_SHARE: url, TOKENWEIR_UPSTREAM: undefined, TOKENWEIR_DB: undefined }
  const target = ['--upstream', upstream.baseUrl]
  const listening = /listening on http:|http:\/\/127\.0\.0\.1:\d+/
  const ports = async (): Promise<string[]> => [String(await freePort()), String(await freePort())]
  const [gatewayPort = '', dashboardPort = ''] = await ports()
  const starts = [
    ['gateway', '--share', '--port', '0', ...target],
    ['dashboard', '--share', '--port', '0'],
    ['up', '--share', '--port', gatewayPort, '--dashboard-port', dashboardPort, ...target],
  ]
  for (const args of starts) {
    await using folder = await makeTempDir()
    await using command = startCommandProcess({ args, directory: folder.path, env })
    await command.waitForOutput(listening, 60_000)
    assert.doesNotMatch(command.stdout + command.stderr, /ENOENT|answers:/, args.join(' '))
    if (args[0] === 'up') await untilSaid('its gateway serves', () => answers(gatewayPort))
    await command.stop('SIGTERM')
  }
  const asked = [
    [['gateways'], 0, /no gateway/i],
    [['db', 'move', '--to-share'], 1, /llm_telemetry\.db/],
  ] as const
  for (const [args, code, words] of asked) {
    await using folder = await makeTempDir()
    await using command = startCommandProcess({ args: [...args], directory: folder.path, env })
    assert.equal((await command.exited).code, code, command.stderr)
    assert.match(command.stdout + command.stderr, words)
    assert.doesNotMatch(command.stderr, /ENOENT|at .*\.ts:/)
  }
})

async function answers(port: string): Promise<boolean> {
  const found = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
  return found?.status === 200
}

test('db move --to-share sends a file that was there before, once, and counts both sides', async () => {
  const url = await postgres.database('moved')
  await using dir = await makeTempDir()
  using file = makeFile(dir.file('telemetry.db'))
  file.record(Array.from({ length: 4000 }, (_, index) => chatCall(idAt(index) + 7)))
  for (let run = 0; run < 2; run++) {
    const args = ['db', 'move', '--to-share', '--db', file.path, '--json']
    await using command = startCommandProcess({ args, directory: dir.path, env: { TOKENWEIR_SHARE: url } })
    assert.deepEqual(await command.exited, { code: 0, signal: null }, command.stderr)
    assert.deepEqual(JSON.parse(command.stdout.trim().split('\n').at(-1) ?? ''), {
      calls: 4000,
      shared_calls: 4000,
    })
  }
  const wrong = {
    TOKENWEIR_SHARE: url.replace('moved', 'nowhere').replace('tokenweir@', 'tokenweir:secret@'),
  }
  const args = ['db', 'move', '--to-share', '--db', file.path]
  await using command = startCommandProcess({ args, directory: dir.path, env: wrong })
  assert.equal((await command.exited).code, 1)
  assert.match(command.stderr, /nowhere/)
  assert.doesNotMatch(command.stderr, /secret/)
})

test('prices and limits of clients that are changed beside one file are in force beside the others', async () => {
  const url = await postgres.database('files')
  await using here = await makeTempDir()
  await using there = await makeTempDir()
  const db = (dir: typeof here): string => dir.file('calls.db')
  using a = makeFile(db(here))
  using b = makeFile(db(there))
  const limit = (tokens: number): string => JSON.stringify({ nightly: { token_limit: tokens } })
  const price = (second: number): string =>
    priceFileText({ ...noPrices, synced_at: `2026-11-21T04:00:0${second}.000Z` })
  const has = (dir: typeof here, name: string, text: string): Promise<void> =>
    eventually(
      `${dir.file(name)} has ${text}`,
      () => existsSync(dir.file(name)) && readFileSync(dir.file(name), 'utf8') === text,
    )
  const conflicts = (dir: typeof here): string[] =>
    readdirSync(dir.path).filter((name) => name.includes('.conflict-'))
  {
    await using _a = share(a.path, url)
    await using _b = share(b.path, url)
    writeFileSync(here.file('clients.json'), limit(1000))
    await has(there, 'clients.json', limit(1000))
    writeFileSync(there.file('clients.json'), limit(2000))
    await has(here, 'clients.json', limit(2000))
    writeFileSync(here.file('model_costs.json'), price(2))
    await has(there, 'model_costs.json', price(2))
    // What cannot be read stays where it is.
    writeFileSync(here.file('clients.json'), '{ "nightly": ')
    writeFileSync(there.file('model_costs.json'), price(1))
    await has(here, 'model_costs.json', price(1))
    assert.equal(readFileSync(there.file('clients.json'), 'utf8'), limit(2000))
    writeFileSync(here.file('clients.json'), limit(3000))
    await has(there, 'clients.json', limit(3000))
  }
  assert.deepEqual([conflicts(here), conflicts(there)], [[], []])
  // Both change it while they do not hear of one another.
  writeFileSync(here.file('clients.json'), limit(4000))
  {
    await using _a = share(a.path, url)
    a.record([chatCall()])
    const connection = await connectRows(url)
    const body = "SELECT body FROM tokenweir.files WHERE name = 'clients.json'"
    await untilSaid('the change is there', async () => String(await connection.query(body)).includes('4000'))
    connection.close()
  }
  writeFileSync(there.file('clients.json'), limit(5000))
  await using roles = share(b.path, url)
  await untilCount(b, 1)
  await has(there, 'clients.json', limit(4000))
  const [kept = ''] = conflicts(there)
  assert.equal(readFileSync(there.file(kept), 'utf8'), limit(5000))
  assert.match(roles.lines.join('\n'), /changed here and elsewhere/)
})
