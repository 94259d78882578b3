/** The menu of the filter bar for clients and sessions, in a real browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

// More clients than a glance takes, and more sessions than one answer has.
const old = Array.from({ length: 120 }, (_, at) => ({
  session: `old-${at}`,
  client: `client-${at % 10}`,
  calls: 1,
  agoMs: 7_000_000 - at * 1000,
}))
const dashboard = await shareDashboard((folder) =>
  writeRuns(folder, [...old, { session: 'the-first-of-all', client: 'codex', calls: 30, agoMs: 80_000_000 }]),
)

const wide = { viewport: { width: 1440, height: 900 }, bypassCSP: true } as const

test('clients and sessions are chosen from those that there are, and found by their names', async () => {
  await using opened = await openDashboardPage(dashboard, { ...wide, expected: / 503 / })
  const { page } = opened
  const untilAddress = (expected: string): Promise<void> =>
    page.waitForURL((url) => url.pathname + url.search === expected)
  const menu = page.getByRole('group', { name: 'More filters', exact: true })
  const inMenu = (name: string) => menu.getByRole('button', { name, exact: true })
  await page.getByText(/^Updated /).waitFor()

  // What fails can be asked for again.
  await page.route('**/api/query?*group_by=client*', (route) => route.fulfill({ status: 503, json: {} }))
  await page.keyboard.press('f')
  await inMenu('Client').click()
  await menu.getByText('The dashboard returned status 503.').waitFor()
  await page.unroute('**/api/query?*group_by=client*')
  await inMenu('Try again').click()

  const search = menu.getByRole('searchbox', { name: 'Find client' })
  await search.and(page.locator(':focus')).waitFor()
  const rows = menu.getByRole('listitem')
  assert.match((await rows.first().textContent()) ?? '', /^codex 30/)
  assert.equal(await rows.count(), 11)
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await page.keyboard.type('ENT-3')
  assert.deepEqual(await rows.getByRole('checkbox').count(), 1)
  await menu.getByRole('checkbox', { name: 'client-3' }).check()
  await untilAddress('/?client=client-3')
  await search.fill('')
  // The others can still be added.
  await menu.getByRole('checkbox', { name: 'codex' }).check()
  await untilAddress('/?client=client-3&client=codex')
  await menu.getByRole('checkbox', { name: 'client-3' }).uncheck()
  await untilAddress('/?client=codex')

  // The way back leads to where it was left, and other facets heed the filter.
  await inMenu('Back to all filters').click()
  await menu.getByRole('button', { name: 'Client codex' }).and(page.locator(':focus')).waitFor()
  await inMenu('Upstream').click()
  await menu.getByText('No upstreams in these calls.').waitFor()
  await inMenu('Back to all filters').click()
  await inMenu('Session').click()
  await menu.getByRole('checkbox', { name: 'the-first-of-all' }).waitFor()
  assert.equal(await rows.count(), 1)
  await inMenu('Back to all filters').click()
  await menu.getByRole('button', { name: 'Client codex' }).click()
  await inMenu('All clients').click()
  await untilAddress('/')

  // It is not among the hundred that come first.
  await inMenu('Back to all filters').click()
  await inMenu('Session').click()
  await menu.getByText('Only 100 are listed. Search to find others.').waitFor()
  await menu.getByRole('checkbox', { name: 'the-first' }).waitFor({ state: 'detached' })
  await menu.getByRole('searchbox', { name: 'Find session' }).fill('FIRST-of')
  await menu.getByRole('checkbox', { name: 'the-first-of-all' }).check()
  await untilAddress('/?session=the-first-of-all')
  await menu.getByRole('checkbox', { name: 'the-first-of-all' }).uncheck()
  await untilAddress('/')
  await menu.getByRole('searchbox').fill('nobody’s')
  await menu.getByText('No sessions match.').waitFor()
})

test('the menu gives the focus back when it is closed, and begins anew when it is opened', async () => {
  await using opened = await openDashboardPage(dashboard, wide)
  const { page } = opened
  const menu = page.getByRole('group', { name: 'More filters', exact: true })
  const first = menu.getByRole('button', { name: 'Client', exact: true })
  await page.getByText(/^Updated /).waitFor()
  await page.keyboard.press('f')
  await first.and(page.locator(':focus')).waitFor()
  // The menu was opened by a key: its button gets the focus all the same.
  await page.keyboard.press('Escape')
  await opened.button('More filters').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('f')
  await menu.getByRole('button', { name: 'Status', exact: true }).click()
  await menu.getByRole('button', { name: 'Back to all filters', exact: true }).waitFor()
  // The page does not know yet that the menu was closed.
  await page.evaluate(`document.querySelector(':popover-open').hidePopover()
    document.getElementById('more-filters').click()`)
  await first.and(page.locator(':focus')).waitFor()
})
