import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumAll } from '../../bench/generate/add-past.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { chatCall } from '../store/sample-call.ts'
import { writeCalls } from '../store/write-calls.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { pageDatabase } from './page-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

/** Six calls of a client that is named "other", and two of each of 502 more clients. */
function writeManyClients(directory: string): void {
  const database = openForWriting(pageDatabase(directory))
  const clients = Array.from({ length: 502 }, (_, at) => `client-${at}`)
  const names = [...clients, ...clients, ...Array.from({ length: 6 }, () => 'other')]
  const firstMs = Date.now() - 600_000
  writeCalls(
    database,
    names.map((client, at) => Object.assign(chatCall((firstMs + at) * idsPerMs), { client })),
  )
  sumAll(database, Date.now())
  database.close()
}

test('the rest of many clients is no client, also beside a client named "other"', async () => {
  const dashboard = await shareDashboard(writeManyClients)
  await using opened = await openDashboardPage(dashboard, { path: '/compare?range=1h&by=client' })
  const { page } = opened
  await untilReady(page)
  const compared = page.getByRole('table', { name: 'Calls by client' })
  const spent = page.getByRole('table', { name: 'Spend by client' })
  await page.getByRole('button', { name: 'Show all 501' }).click()
  assert.equal(await compared.getByRole('rowheader').count(), 501)
  const rest = compared.getByRole('row').filter({ hasText: /^Others/ })
  assert.match(await rest.innerText(), /^Others\s+6\s/)
  assert.equal(await rest.getByRole('link').count(), 0)
  // Each has a box and a line of its own.
  const [own, others] = ['other', 'Others'].map((name) =>
    compared.getByRole('checkbox', { name: `Draw ${name}`, exact: true }),
  )
  assert.ok(own !== undefined && others !== undefined)
  await own.and(page.locator(':checked')).waitFor()
  await own.uncheck()
  await others.check()
  assert.equal(await own.isChecked(), false)
  await page.reload()
  await untilReady(page)
  await page.getByRole('button', { name: 'Show all 501' }).click()
  assert.deepEqual([await own.isChecked(), await others.isChecked()], [false, true])

  await page.goto(`${dashboard.origin}/costs?range=1h&by=client`)
  await untilReady(page)
  await page.getByRole('button', { name: 'Show all 501' }).click()
  const spentByRest = spent.getByRole('row').filter({ hasText: /^Others/ })
  assert.equal(await spentByRest.getByRole('link').count(), 0)
  await spent.getByRole('link', { name: 'other', exact: true }).click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  assert.equal(new URL(page.url()).search, '?range=1h&client=other&sort=cost')
  await page.getByText('6 calls', { exact: true }).waitFor()
})
