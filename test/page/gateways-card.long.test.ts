import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { startPostgres } from '../support/postgres.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'

test('several gateways are a table; one that is lost is released after a question', async () => {
  await using postgres = await startPostgres()
  const url = await postgres.database('gateways_card')
  const env = { TOKENWEIR_SHARE: url }
  await using upstream = await startSimulatedUpstream({})
  const args = ['--share', '--max-concurrent', '12', '--upstream', upstream.baseUrl]
  await using dashboard = await startDashboardProcess({ args, env })
  await dashboard.ask('POST', '/api/proxy/start')
  await using opened = await openDashboardPage(dashboard, {
    path: '/gateway',
    bypassCSP: true,
  })
  const { page } = opened
  await page.getByRole('heading', { name: 'Right now' }).waitFor()
  const card = page.locator('.gateways-card')
  assert.equal(await card.count(), 0, 'one gateway alone has no table')

  await using _other = await startGatewayProcess({ upstream: upstream.baseUrl, args, env })
  await using database = { client: new Client(url), [Symbol.asyncDispose]: () => database.client.end() }
  await database.client.connect()
  await database.client.query(
    `INSERT INTO tokenweir.gateways (instance, number, folder, host, pid, version, asked_concurrent, lease_ms, joined_at, seen_at)
     VALUES ('k3v9lost', 60, 'f', 'north', 1, '0', 12, 600000, now() - interval '1 h', now() - interval '630 s')`,
  )
  await page.reload()
  await card.getByText('0 of 12 slots, 3 gateways').waitFor()
  assert.equal(await card.getByText(/^this gateway, /).count(), 1)
  const lost = card.getByRole('row', { name: /^north/ })
  assert.match(await lost.innerText(), /Away since/)
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  assert.equal(await card.getByRole('button').count(), 1, 'those that live cannot be released')

  await lost.getByRole('button', { name: /^Release/ }).click()
  await page.getByText('It leaves the list, and other gateways get its slots: it holds none.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
  await card.getByText('0 of 12 slots, 2 gateways').waitFor()
  await lost.waitFor({ state: 'detached' })
})
