/** Tags in the filters, in Compare and in Costs, in a real browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const hourMs = 3_600_000
const dashboard = await shareDashboard((folder) =>
  writeRuns(folder, [
    { session: 'a', calls: 12, agoMs: 5 * hourMs, tags: 'team:search,env:prod' },
    { session: 'b', calls: 7, agoMs: 4 * hourMs, tags: 'team:ads,env:prod' },
    { session: 'c', calls: 4, agoMs: 3 * hourMs },
    // Beyond a week, which sums alone can answer in time.
    { session: 'd', calls: 5, agoMs: 20 * 24 * hourMs, tags: 'team:ads' },
  ]),
)

test('a tag is chosen among those that calls have, and calls are compared by its key', async () => {
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  const untilAddress = (expected: string): Promise<void> =>
    page.waitForURL((url) => url.pathname + url.search === expected)
  await untilReady(page)
  await page.keyboard.press('f')
  const menu = page.getByRole('group', { name: 'More filters', exact: true })
  await menu.getByRole('button', { name: 'Tag', exact: true }).click()
  await menu.getByRole('checkbox').first().waitFor()
  const listed = await menu.getByRole('listitem').allTextContents()
  assert.deepEqual(
    listed.map((text) => /^\S+ \d+/.exec(text)?.[0]),
    ['env:prod 19', 'team:search 12', 'team:ads 7'],
  )
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await menu.getByRole('checkbox', { name: 'env:prod' }).check()
  await untilAddress('/?tag=env:prod')
  await page.keyboard.press('Escape')
  await button('Remove Tag: env:prod').waitFor()

  await page.goto(`${dashboard.origin}/compare?range=30d&tag=env:prod&tag=team:ads&tag=team:search`)
  await button('Tag').click()
  // The key with most calls comes first.
  await untilAddress('/compare?range=30d&tag=env:prod&tag=team:ads&tag=team:search&by=tag:env')
  await page.getByRole('combobox', { name: 'Tag key' }).selectOption('team')
  const rows = page.getByRole('table', { name: 'Calls by tag team' }).getByRole('row')
  await rows.filter({ hasText: /search\s*12/ }).waitFor()
  assert.equal(await rows.count(), 3)
  // The other key's filter stays.
  await rows.getByRole('link', { name: 'search' }).click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  await untilAddress('/calls?range=30d&tag=env:prod&tag=team:search')

  await page.goto(`${dashboard.origin}/costs?range=30d&by=tag:team`)
  const spend = page.getByRole('table', { name: 'Spend by tag team' })
  await spend.getByRole('link', { name: 'ads' }).waitFor()
  assert.match(await spend.getByRole('row').filter({ hasText: 'ads' }).innerText(), /\b12\b/)
  await spend.getByText('Without this tag').waitFor()
  await untilReady(page)
  assert.deepEqual(await violations(page), [])
})
