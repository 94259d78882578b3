import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { themeViolations, violations } from './axe-violations.ts'
import { openDashboardPage, startByButton, untilReady, untilStill, viewPaths } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

const themes = [
  ['light', violations],
  ['dark', themeViolations],
] as const

for (const state of ['empty', 'three', 'incident'] as const) {
  test(`axe finds nothing in any view without a gateway, in light and dark: ${state}`, async () => {
    await using opened = await openDashboardPage(await dashboardOver(state), { bypassCSP: true })
    const { page } = opened
    for (const path of viewPaths) {
      await page.goto(new URL(path, page.url()).href)
      await untilReady(page)
      for (const [colorScheme, find] of themes) {
        await page.emulateMedia({ colorScheme })
        await untilStill(page)
        assert.deepEqual(await find(page), [], `${path} ${colorScheme}`)
      }
    }
  })
}

test('axe finds nothing in the Settings and Gateway views while the gateway runs: with everything open, wrong and asked', async () => {
  await using dashboard = await startDashboardProcess()
  const options = { path: '/gateway', bypassCSP: true } as const
  await using opened = await openDashboardPage(dashboard, { ...options, expected: / 400 / })
  const { page } = opened
  await startByButton(opened)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('more options, set by flag or environment variable').click()
  await page.locator('#option-max_concurrent').fill('0')
  await opened.button('Save').click()
  await opened.untilText('option-max_concurrent-error', /./)
  for (const [colorScheme, find] of themes) {
    await page.emulateMedia({ colorScheme })
    await untilStill(page)
    // What is half below the bar is too small a target, wherever a page stands.
    await page.evaluate('scrollTo(0, 0)')
    assert.deepEqual(await find(page), [], colorScheme)
  }
  await page.getByRole('link', { name: 'Gateway', exact: true }).click()
  await opened.button('Stop').click()
  await page.getByRole('dialog').waitFor()
  assert.deepEqual(await violations(page), [])
})

test('axe finds nothing in the Costs view with a price open, and in its dialogs', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { path: '/costs', bypassCSP: true })
  const { page } = opened
  await untilReady(page)
  const assertNone = async (what: string): Promise<void> => {
    for (const [colorScheme, find] of themes) {
      await page.emulateMedia({ colorScheme })
      await untilStill(page)
      assert.deepEqual(await find(page), [], `${what} ${colorScheme}`)
    }
  }
  await page.getByRole('button', { name: 'gpt-5.1-mini', exact: true }).first().click()
  await assertNone('a price')
  await page.getByRole('button', { name: 'Change gpt-5.1-mini' }).first().click()
  await page.getByText('More', { exact: true }).click()
  await page.getByLabel(/^Input,/).fill('much')
  await opened.button('Save').click()
  await page
    .getByLabel(/^Input,/)
    .and(page.locator(':focus'))
    .waitFor()
  // Else the bar lies over half of a button above the form.
  await page.evaluate('scrollTo(0, 0)')
  await assertNone('setting a price')
  await page.keyboard.press('Escape')
  const figures = { calls: 2, before_usd: null, after_usd: 1.5, newly_priced: 2, newly_unpriced: 0 }
  const days = [{ day: '2026-11-21', model: 'gpt-5.1-mini', ...figures }]
  await page.route(/\/api\/costs\/reprice/, (route) => route.fulfill({ json: { days, ...figures } }))
  await opened.button('Recalculate costs…').click()
  await page.getByRole('region', { name: 'Changes' }).waitFor()
  await assertNone('what would change')
})
