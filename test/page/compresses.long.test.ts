import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addPast, sumAll } from '../../bench/generate/add-past.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage } from './dashboard-page.ts'
import type { Sessions } from '../../src/api/sessions.ts'
import { pageDatabase } from './page-data.ts'

test('compressing: how large it is, what it would do, what is lost, and what it did', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(pageDatabase(dir.path))
  addPast(database, { calls: 6000, days: 4, endMs: Date.now(), seed: 1 })
  sumAll(database, Date.now())
  const count = database.prepare('SELECT count(*) AS calls FROM calls')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { path: '/settings' })
  const { page, button } = opened
  assert.match(await opened.untilText('database-file', /telemetry\.db$/), /^\//)
  await opened.untilText('database-size', /^\d[\d.]* MB$/)

  // Nothing can be begun that was not looked at first.
  await opened.untilText('compress-told', /^Run an estimate first/)
  assert.equal(await button('Compress').getAttribute('aria-disabled'), 'true')
  const days = page.getByLabel('Keep individual calls for')
  await days.fill('0')
  await opened.untilText('compress-told', /^Enter a whole number of days from 1 to/)
  assert.equal(await button('Estimate').getAttribute('aria-disabled'), 'true')
  await days.fill('1')
  await button('Estimate').click()
  const told = await opened.untilText('compress-told', /^[\d,]+ calls would be rolled up, freeing/)
  assert.equal(count.get()?.['calls'], 6000)
  // For other days it would be something else.
  await days.fill('2')
  await opened.untilText('compress-told', /^Run an estimate first/)
  await days.fill('1')
  await opened.untilText('compress-told', new RegExp(`^${RegExp.escape(told)}$`))

  await button('Compress').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This cannot be undone.').waitFor()
  await page.keyboard.press('Escape')
  assert.equal(count.get()?.['calls'], 6000)
  await button('Compress').click()
  await dialog.getByRole('button', { name: 'Compress' }).click()
  await opened.untilText('compress-told', /^Rolled up .+ calls and freed .+ in .+\.$/)
  assert.ok(Number(count.get()?.['calls']) < 6000)

  // Nor does a list of what is left pass for all there was.
  const { sessions } = (await (await dashboard.ask('GET', '/api/sessions?limit=1')).json()) as Sessions
  await page.goto(`${dashboard.origin}/sessions?range=30d&text=${sessions[0]?.session}`)
  await page.getByText(/^1 session, most recent first; earlier ones were rolled up$/).waitFor()
  database.close()
})
