import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { GatewaysReport } from '../../src/api/gateways.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { until as held } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

let postgres: Postgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres[Symbol.asyncDispose]())

test('a page tells of all gateways; one that is silent for its lease and ten seconds can be released, and no other', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream({
    reply: () => ({ steps: [held(gate.promise), ...jsonReply(200, { model: 'm' })] }),
  })
  const url = await postgres.database('list_of_two')
  const env = { TOKENWEIR_SHARE: url }
  const shared = ['--share', '--max-concurrent', '4', '--upstream', upstream.baseUrl]
  await using dashboard = await startDashboardProcess({ args: [...shared, '--drain-timeout-ms', '0'], env })
  const list = async (): Promise<GatewaysReport> =>
    (await (await dashboard.ask('GET', '/api/gateways')).json()) as GatewaysReport
  assert.deepEqual((await list()).gateways, [])
  await dashboard.ask('POST', '/api/proxy/start')
  await using other = await startGatewayProcess({ upstream: upstream.baseUrl, args: shared, env })
  const call = fetch(`${other.baseUrl}/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  await upstream.waitFor('its call', () => upstream.inFlight === 1)
  const rowOf = async (isOwn: boolean) => (await list()).gateways.find((row) => row.is_own === isOwn)
  while ((await rowOf(false))?.active !== 1) await sleep(25)
  const { gateways, max_concurrent: max, problem, copy } = await list()
  assert.deepEqual([gateways.length, max, problem, copy], [2, 4, null, null])
  const [own, second] = gateways
  assert.deepEqual([own?.is_own, own?.state, own?.active, own?.can_release], [true, 'ok', 0, false])
  const { state, held: slots = 0, lease_left_s: lease, waiting, rows_behind: behind } = second ?? {}
  assert.deepEqual([state, waiting, behind], ['ok', 0, 0])
  assert.ok(slots >= 1 && Number(lease) > 590 && Number(lease) <= 600, JSON.stringify(second))

  const command = startCommandProcess({ args: ['gateways'], directory: dashboard.directory, env })
  await command.exited
  assert.match(command.stdout, /in flight.*\n.*\(this one\)/)
  assert.ok(command.stdout.includes(second?.instance ?? '?'), command.stdout)
  assert.match(command.stdout, /1 of 4 slots in use, 2 gateways/)
  const json = startCommandProcess({ args: ['gateways', '--json'], directory: dashboard.directory, env })
  await json.exited
  const told = JSON.parse(json.stdout) as GatewaysReport
  assert.deepEqual(
    fieldsOf(told.gateways, 'instance'),
    gateways.map(({ instance }) => instance),
  )

  // It lives, and while it does nobody can release it; nor can those who may not control anything.
  const path = `/api/gateways/${second?.instance}/release`
  const codeOf = async (answer: Response) => [answer.status, answer.headers.get('x-tokenweir-error')]
  const statusOf = async (target: string) => (await dashboard.ask('POST', target)).status
  assert.equal(await statusOf(path), 409)
  assert.equal(await statusOf('/api/gateways/nobody/release'), 404)
  const foreign = await fetch(`${dashboard.origin}${path}`, {
    method: 'POST',
    headers: { origin: 'http://evil.example' },
  })
  assert.deepEqual((await codeOf(foreign))[0], 403)

  // A machine that was lost: nothing is heard of it any more.
  const client = new Client({ connectionString: url })
  await client.connect()
  const silent = (seconds: number) =>
    client.query(
      `INSERT INTO tokenweir.gateways (instance, number, folder, host, pid, version, asked_concurrent, lease_ms, joined_at, seen_at)
       VALUES ('lost', 60, 'f', 'far', 1, '0', 4, 600000, now() - interval '1 h', now() - $1 * interval '1 s')
       ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at`,
      [seconds],
    )
  const lost = async () => (await list()).gateways.find(({ instance }) => instance === 'lost')
  await silent(602)
  assert.deepEqual([(await lost())?.state, (await lost())?.can_release], ['away', false])
  assert.equal(await statusOf('/api/gateways/lost/release'), 409)
  // One that still holds slots by the book, as after a lease that was changed, gives them to others.
  await silent(630)
  await client.query(
    `INSERT INTO tokenweir.slot_holders SELECT 'lost', 99, 1, 2, 0, '{}', tokenweir.now_ms() + 1e7, 2, false, 2, 0, 0`,
  )
  assert.deepEqual([(await lost())?.can_release, (await lost())?.held], [true, 2])
  assert.equal(await statusOf('/api/gateways/lost/release'), 200)
  assert.equal(await lost(), undefined)
  const { rows } = await client.query("SELECT FROM tokenweir.slot_holders WHERE holder = 'lost'")
  assert.equal(rows.length, 0)
  await client.end()

  // The database is away: what was known last stays, with the reason.
  await postgres.stop()
  const away = await list()
  assert.equal(away.gateways.length, 2)
  assert.match(String(away.problem), /refuses connections|answers/)
  assert.equal(await statusOf(path), 503)
  gate.resolve()
  await (await call).text()
})

test('without --share there is the own gateway alone, and nothing to release', async () => {
  await using upstream = await startSimulatedUpstream({})
  await using dashboard = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  const list = async (): Promise<GatewaysReport> =>
    (await (await dashboard.ask('GET', '/api/gateways')).json()) as GatewaysReport
  assert.deepEqual((await list()).gateways, [])
  await dashboard.ask('POST', '/api/proxy/start')
  const { gateways, problem } = await list()
  const { instance } = await dashboard.status()
  assert.deepEqual(fieldsOf(gateways, 'instance', 'is_own', 'state'), [[instance, true, 'ok']])
  assert.equal(problem, null)
  const command = startCommandProcess({ args: ['gateways'], directory: dashboard.directory })
  await command.exited
  assert.ok(command.stdout.includes(String(instance)), command.stdout)
  assert.equal((await dashboard.ask('POST', `/api/gateways/${instance}/release`)).status, 404)
})
