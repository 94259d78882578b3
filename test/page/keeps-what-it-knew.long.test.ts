import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { freePort } from '../support/free-port.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

for (const [path, shown, isRenewed] of [
  // Of seven days: no call leaves the range while this looks.
  ['/?range=7d', 'Figures', 'by itself'],
  // A list never moves by itself.
  ['/calls?range=7d', 'Calls', 'when it is asked'],
] as const) {
  test(`${path} keeps its figures while the dashboard is away, says since when, and goes on when it is back`, async () => {
    await using dir = await makeTempDir()
    writePageData(dir.path, 'day')
    await using dashboard = await startDashboardProcess({ directory: dir.path, port: await freePort() })
    await using opened = await openDashboardPage(dashboard, { path, expected: /net::ERR_/ })
    const { page } = opened
    await untilReady(page)
    // The bar that says that the dashboard is away takes height from a list, which then holds fewer rows.
    const texts = async (): Promise<string[]> => {
      const all = await page.getByLabel(shown, { exact: true }).getByRole('link').allInnerTexts()
      return all.slice(0, 10)
    }
    // The last figure that a view asks for.
    await page
      .getByText(/\d unpriced$/)
      .first()
      .waitFor()
    const before = await texts()
    assert.ok(before.length >= 6)

    await dashboard.command.stop('SIGKILL')
    await page.getByText(/^Dashboard unreachable since \d\d:\d\d:\d\d/).waitFor()
    // A view that was just asking has its stamp red already.
    await page.getByRole('button', { name: /^(?:Refresh|Try again)$/ }).click()
    await page.getByText(/^Not updated since .+ The dashboard is not responding\.$/).waitFor()
    assert.deepEqual(await texts(), before)

    await using again = await startDashboardProcess({ directory: dir.path, port: dashboard.port })
    await page.getByText(/^Dashboard unreachable/).waitFor({ state: 'hidden' })
    if (isRenewed === 'when it is asked') await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Refresh' }).waitFor()
    await page.getByText(/^Not updated since/).waitFor({ state: 'detached' })
    assert.equal((await texts()).length, before.length)
    assert.equal((await again.status()).state, 'stopped')
  })
}
