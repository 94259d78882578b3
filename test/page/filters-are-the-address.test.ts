import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DashboardPage, openDashboardPage } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

/** Waits until the page's address is this path and query. */
async function untilAddress(opened: DashboardPage, expected: string): Promise<void> {
  await opened.page.waitForURL((url) => url.pathname + decodeURIComponent(url.search) === expected)
}

test('whatever is chosen stands in the address, and the address brings it back', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await page.getByText(/^Updated /).waitFor()

  await button('7d').click()
  await untilAddress(opened, '/?range=7d')
  assert.equal(await button('7d').getAttribute('aria-pressed'), 'true')

  await button('All models').click()
  const models = page.getByRole('group', { name: 'Models', exact: true })
  const names = models.locator('label > span:first-of-type')
  await names.first().waitFor()
  const [first = '', second = ''] = await names.allTextContents()
  // Beside the name stands how many calls there are.
  await models.getByRole('checkbox', { name: new RegExp(`^${first} \\d`) }).check()
  await models.getByRole('checkbox', { name: new RegExp(`^${second} \\d`) }).check()
  await untilAddress(opened, `/?range=7d&model=${first}&model=${second}`)
  await models.getByRole('listitem').filter({ hasText: second }).hover()
  await models.getByRole('button', { name: `only ${second}`, exact: true }).click()
  await untilAddress(opened, `/?range=7d&model=${second}`)
  await page.keyboard.press('Escape')
  await models.waitFor({ state: 'hidden' })
  assert.equal(await page.evaluate('document.activeElement.id'), 'model-filter')

  await button('Type and outcome').click()
  await page.getByRole('checkbox', { name: 'Chat' }).check()
  await page.getByRole('checkbox', { name: 'Refused' }).check()
  await page.keyboard.press('Escape')
  await button('Errors only').click()
  const all = `/?range=7d&model=${second}&call_type=chat&outcome=refused&errors_only=true`
  await untilAddress(opened, all)

  await page.reload()
  await button('Chat · Refused').waitFor()
  assert.equal(await button('Errors only').getAttribute('aria-pressed'), 'true')
  assert.equal(await button(second).count(), 1)
  await untilAddress(opened, all)

  await page.goBack()
  await untilAddress(opened, all.replace('&errors_only=true', ''))
  assert.equal(await button('Errors only').getAttribute('aria-pressed'), 'false')

  // Views keep what is filtered.
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Calls' }).click()
  await untilAddress(opened, `/calls?range=7d&model=${second}&call_type=chat&outcome=refused`)
  await page.getByRole('link', { name: 'Overview' }).click()
  await button('Clear all').first().click()
  await untilAddress(opened, '/?range=7d')
})

test('what has no control of its own is a chip, also what means nothing', async () => {
  const dashboard = await dashboardOver('none')
  const path = '/?client=curl&failure_code=client_gone&min_ms=500&q=abc&foo=1'
  await using opened = await openDashboardPage(dashboard, { path })
  const { page, button } = opened
  await button('Remove Client: curl').click()
  await untilAddress(opened, '/?failure_code=client_gone&min_ms=500&q=abc')
  await page.goBack()
  await button('Remove Ignored: foo').click()
  await untilAddress(opened, '/?failure_code=client_gone&client=curl&min_ms=500&q=abc')
  await button('Clear all').first().click()
  await untilAddress(opened, '/')
})

test('a range of two instants is typed in the zone of the page, and checked', async () => {
  const dashboard = await dashboardOver('none')
  const options = { timezoneId: 'Europe/Berlin' }
  await using opened = await openDashboardPage(dashboard, options)
  const { page, button } = opened
  await button('Custom').click()
  await page.getByText('Times in Europe/Berlin').waitFor()
  await button('Use UTC').click()
  await page.getByText('Times in UTC').waitFor()
  await untilAddress(opened, '/?tz=utc')
  // The same by a key, wherever it is.
  await page.keyboard.press('Escape')
  await page.keyboard.press('z')
  await untilAddress(opened, '/')
  await button('UTC').and(page.locator('[aria-pressed="false"]')).waitFor()
  await button('Custom').click()
  await page.getByLabel('From').fill('2026-11-21T10:00')
  await page.getByLabel('To', { exact: true }).fill('2026-11-21T09:00')
  await button('Apply').click()
  await page.getByRole('alert').getByText('The end must be after the start.').waitFor()
  await page.getByLabel('To', { exact: true }).fill('')
  await button('Apply').click()
  await page.getByRole('alert').getByText('Enter a date and a time.').waitFor()
  await page.getByLabel('To', { exact: true }).fill('2026-11-21T11:30')
  await page.keyboard.press('Enter')
  await untilAddress(opened, '/?from=2026-11-21T09:00:00Z&to=2026-11-21T10:30:00Z')
  await page.getByText('21 Nov, 10:00 to 11:30').waitFor()
  await page.getByRole('group', { name: 'Time range' }).getByText('24h').click()
  await untilAddress(opened, '/?range=24h')
})

test('the filters are one row on a wide screen, whatever is chosen', async () => {
  const dashboard = await dashboardOver('three')
  const viewport = { width: 1440, height: 900 }
  const path =
    '/?from=2026-11-20T10:00:00Z&to=2026-11-21T09:30:00Z&model=a-model-of-a-long-name&client=one&client=two&client=three' +
    '&session=nightly&status=429&errors_only=true&call_type=chat&call_type=embedding&against=previous'
  const heights: (number | undefined)[] = []
  for (const asked of ['/', path]) {
    await using opened = await openDashboardPage(dashboard, { viewport, path: asked })
    await opened.button('Refresh').waitFor()
    heights.push((await opened.page.getByRole('group', { name: 'Filters' }).boundingBox())?.height)
    assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth'), viewport.width)
  }
  assert.equal(heights[0], heights[1])
})

test('while it has not answered the stamp says since when, and how to ask again', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { expected: /ERR_FAILED/ })
  const { page, button } = opened
  await page.getByText(/^Updated \d\d:\d\d:\d\d · per minute$/).waitFor()
  await page.route('**/api/overview?**', (route) => route.abort())
  await button('Refresh').click()
  await page
    .getByRole('alert')
    .getByText(/^Not updated since \d\d:\d\d:\d\d\. The dashboard is not responding\.$/)
    .waitFor()
  assert.ok((await page.getByRole('main').textContent())?.includes('3'))
  await page.unroute('**/api/overview?**')
  await button('Try again').click()
  await page.getByText(/^Updated /).waitFor()
})
