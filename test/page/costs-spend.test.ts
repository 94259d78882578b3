import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, pressInTurn, untilReady, untilTrue } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { dashboardOver } from './shared-dashboard.ts'

interface Spent {
  readonly calls: number
  readonly cost_usd: number
  readonly unpriced_calls: number
}

test('spend is what the API says, with what is unpriced beside it; rows lead to their calls, and Back comes back', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'day')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  await untilReady(page)
  // As on most keyboards: the Shift key is pressed in between.
  await pressInTurn(page, ['g', 'Shift+Digit4'])
  await untilReady(page)
  assert.equal(new URL(page.url()).pathname, '/costs')
  await untilTrue(page, `document.title === 'Costs · tokenweir'`)
  // The month is asked for by itself.
  await page.getByText(/^\$[\d.]+ so far$/).waitFor()

  const from = new Date(Date.now() - 86_400_000).toISOString()
  const answer = await dashboard.ask('GET', `/api/query?group_by=model&from=${from}`)
  const { summary, groups } = (await answer.json()) as {
    summary: Spent
    groups: readonly (Spent & { key: string })[]
  }
  /** A card's words, its figure, and the fact below it. */
  const figure = async (words: string): Promise<readonly string[]> => {
    const cards = page.getByRole('list', { name: 'Figures' }).getByRole('listitem')
    const card = cards.filter({ has: page.getByText(words, { exact: true }) })
    return (await card.innerText()).split('\n').filter((line) => line !== '')
  }
  // Calls leave the range while this runs: to the cent it may be another one.
  const [, money = '', unpriced = ''] = await figure('Spend')
  const spent = Number(money.replace('$', ''))
  assert.ok(Math.abs(spent - summary.cost_usd) < summary.cost_usd / 100, `${spent} of ${summary.cost_usd}`)
  const [, end = '', soFar = ''] = await figure('Forecast this month')
  const month = new Date().toISOString().slice(0, 7)
  const monthly = await dashboard.ask('GET', `/api/query?group_by=day&measures=none&from=${month}-01`)
  const { cost_usd: usd } = ((await monthly.json()) as { summary: Spent }).summary
  const told = Number(/^\$([\d.]+) so far$/.exec(soFar)?.[1])
  assert.ok(Math.abs(told - usd) < usd / 100 + 0.005, `${soFar} of ${usd}`)
  assert.ok(Number(end.replace('$', '')) >= told, `${end}, ${soFar}`)
  assert.match(unpriced, /^\+ [\d,]+ unpriced calls$/)
  const [dearest] = groups.toSorted((one, other) => other.cost_usd - one.cost_usd)
  assert.ok(dearest !== undefined)
  assert.equal((await figure('Most expensive model'))[1], dearest.key)

  // The budget of a month stands beside it, as long as all calls are shown.
  await dashboard.ask('PUT', '/api/alerts', { spend_month: { on: true, threshold: 0.5 } })
  await page.reload()
  const budget = page.getByText('budget $0.50', { exact: true })
  await budget.waitFor()
  await opened.button('Errors only').click()
  await budget.waitFor({ state: 'hidden' })
  await page.goBack()
  await page.reload()
  await budget.waitFor()
  await untilReady(page)

  const table = page.getByRole('table', { name: 'Spend by model' })
  const first = table.getByRole('row').nth(1)
  assert.match(await first.innerText(), new RegExp(`^${dearest.key.replaceAll('.', '\\.')}`))
  // Headings sort both ways, and the address keeps it.
  const byCalls = groups.toSorted((one, other) => one.calls - other.calls).map(({ key }) => key)
  const heading = table.getByRole('columnheader', { name: 'Calls', exact: true })
  for (const [order, names, search] of [
    ['descending', byCalls.toReversed(), '?order=calls'],
    ['ascending', byCalls, '?order=calls&rising=true'],
  ] as const) {
    await heading.getByRole('button').click()
    await heading.and(page.locator(`[aria-sort="${order}"]`)).waitFor()
    assert.equal(await table.getByRole('rowheader').nth(0).getByRole('link').innerText(), names[0])
    assert.equal(new URL(page.url()).search, search)
  }
  await page.reload()
  await heading.and(page.locator('[aria-sort="ascending"]')).waitFor()
  await page.goto(`${dashboard.origin}/costs`)
  await untilReady(page)
  const slider = page.getByRole('slider', { name: 'Spend over time' })
  await slider.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /\$[\d.]+ total, [\d,]+ calls?/)

  await page.getByRole('button', { name: 'Client', exact: true }).click()
  await page.getByRole('table', { name: 'Spend by client' }).getByRole('rowheader').first().waitFor()
  assert.equal(new URL(page.url()).search, '?by=client')
  await page.goBack()
  await table.getByRole('link').first().click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  assert.equal(new URL(page.url()).search, `?model=${dearest.key}&sort=cost`)
})

test('where nothing has a price, nothing is said to have cost nothing; without calls there is no spend to show', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 404 / })
  const { page } = opened
  const figures = { calls: 80, errors: 0, total_tokens: 9000, cost_usd: null, unpriced_calls: 80 }
  const json = {
    groups: [{ key: 'qwen3:8b', ...figures }],
    summary: figures,
    available_models: ['qwen3:8b'],
    available_types: ['chat'],
  }
  await page.route(/\/api\/query/, (route) => {
    const isCourse = route.request().url().includes('%2C')
    return route.fulfill({ json: isCourse ? { ...json, groups: [] } : json })
  })
  // As after an update of the program: the script of the view is no more where this page looks for it.
  await page.route(/costs-view/, (route) => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: 'Costs' }).click()
  await page.getByText('Could not load this part of the page.').waitFor()
  await page.unroute(/costs-view/)
  await page.getByRole('button', { name: 'Reload page' }).click()
  await untilReady(page)
  const cards = await page.getByRole('list', { name: 'Figures' }).getByRole('listitem').allInnerTexts()
  const values = cards.map((card) => card.split('\n').filter((line) => line !== '')[1])
  assert.deepEqual(values, ['–', '–', '100%', '–', '–'])
  await page.getByText('No price for 80 calls with tokens').waitFor()
  const row = page.getByRole('table', { name: 'Spend by model' }).getByRole('row').nth(1)
  assert.match(await row.innerText(), /no price/)

  await page.unroute(/\/api\/query/)
  await page.reload()
  await page.getByRole('region', { name: 'No calls yet' }).waitFor()
  await page.getByRole('region', { name: 'Prices' }).waitFor()
})
