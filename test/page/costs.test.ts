import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { sumAll } from '../../bench/generate/add-past.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import { dollars } from '../../src/lib/number-format.ts'
import { priceFileOf } from '../../src/pricing/price-file.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { litellmList } from '../pricing/litellm-list.ts'
import { chatCall } from '../store/sample-call.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, pressInTurn, untilReady, untilTrue } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { dashboardOver, shareDashboard } from './shared-dashboard.ts'
import { writeCalls } from '../store/write-calls.ts'

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
  // By the hour of the day, all of these ran on the user's own machine.
  assert.match(unpriced, /^\+ [\d,]+ (?:unpriced|self-hosted) calls?$/)
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
  // Another tab changes it while it is typed here: that is said, and what was typed stays.
  const typed = page.getByLabel('Monthly budget, USD')
  await typed.fill('7')
  await dashboard.ask('PUT', '/api/alerts', { spend_month: { threshold: 3 } })
  await page.getByText('Changed to $3.00 elsewhere. Saving replaces it.').waitFor()
  assert.equal(await typed.inputValue(), '7')
  await page.keyboard.press('Enter')
  await page.getByText('budget $7.00', { exact: true }).waitFor()

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
    group_by: 'model',
    groups: [{ key: 'qwen3:8b', ...figures }],
    summary: figures,
    available_models: ['qwen3:8b'],
    available_types: ['chat'],
  }
  await page.route(/\/api\/query/, (route) => {
    const isCourse = route.request().url().includes('%2C')
    const course = { group_by: 'hour,model', groups: [] }
    return route.fulfill({ json: isCourse ? { ...json, ...course } : json })
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

/** One call that was priced, and two of a model of one's own that were not. */
function writeLocalCalls(directory: string): void {
  const database = openForWriting(pageDatabase(directory))
  const id = (minutesAgo: number): number => (Date.now() - minutesAgo * 60_000) * idsPerMs
  const priced = chatCall(id(9))
  const upstream = '127.0.0.1:8080'
  const own = {
    upstream,
    model: 'qwen3:8b',
    responseModel: null,
    costNanoUsd: null,
    priceKey: null,
    priceSource: null,
  }
  writeCalls(database, [priced, { ...chatCall(id(5)), ...own }, { ...chatCall(id(2)), ...own }])
  sumAll(database, Date.now())
  database.close()
}

test('in another zone, prices are those of its day', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, {
    path: '/costs?range=today',
    timezoneId: 'Asia/Kathmandu',
  })
  const { page } = opened
  await untilReady(page)
  const isOfUtc = (url: string): boolean => /\/api\/costs\/matches\?from=[^&]+T00%3A00%3A00/.test(url)
  await Promise.all([
    page.waitForRequest((request) => isOfUtc(request.url()), { timeout: 5000 }),
    page.keyboard.press('z'),
  ])
})

test('calls of a model of one’s own are self-hosted, not unpriced', async () => {
  const dashboard = await shareDashboard(writeLocalCalls)
  await using opened = await openDashboardPage(dashboard, { path: '/?range=1h' })
  const { page } = opened
  await page.getByRole('link', { name: /^Cost/ }).getByText('+ 2 self-hosted', { exact: true }).waitFor()
  const models = page.getByRole('region', { name: 'By model' })
  await models.getByText('2 self-hosted', { exact: true }).waitFor()
  await models.getByRole('link', { name: /^qwen3:8b.*self-hosted$/s }).waitFor()
  await page.goto(`${dashboard.origin}/calls?range=1h`)
  await page.getByText('2 self-hosted', { exact: true }).waitFor()
  await page.goto(`${dashboard.origin}/costs?range=1h`)
  const spend = page.getByRole('region', { name: 'Spend by model' })
  await spend.getByRole('row', { name: /^qwen3:8b.*self-hosted/ }).waitFor()
  await spend.getByRole('row', { name: /^All.*\+ 2 self-hosted/ }).waitFor()
  // Who called them changes nothing.
  await page.goto(`${dashboard.origin}/costs?range=1h&by=client`)
  const byClient = page.getByRole('region', { name: 'Spend by client' })
  await byClient.getByText('+ 2 self-hosted', { exact: true }).waitFor()
  await page.goto(`${dashboard.origin}/costs?range=1h&model=qwen3:8b`)
  await page.getByText('2 calls self-hosted: no cost', { exact: true }).nth(1).waitFor()
})

test('calls that nobody bills are so named, whatever another client has unpriced', async () => {
  const dashboard = await shareDashboard((directory) => {
    writeLocalCalls(directory)
    const unpriced = { model: 'new-model', costNanoUsd: null, priceKey: null, priceSource: null }
    const call = chatCall((Date.now() - 60_000) * idsPerMs)
    writeCalls(pageDatabase(directory), [{ ...call, ...unpriced, client: 'curl' }])
  })
  await using opened = await openDashboardPage(dashboard, {
    path: '/calls?range=1h&client=openai-python',
  })
  const { page } = opened
  await page.getByText('2 self-hosted', { exact: true }).waitFor()
  await page.goto(`${dashboard.origin}/calls?range=1h`)
  await page.getByText('1 unpriced', { exact: true }).waitFor()
})

test('no call is shown as unpriced before it is known which calls nobody bills', async () => {
  const dashboard = await shareDashboard(writeLocalCalls)
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  for (const [view, api, known] of [
    ['/', '/api/overview?', '+ 2 self-hosted'],
    ['/calls', '/api/query?', '2 self-hosted'],
    ['/costs', '/api/query?', '+ 2 self-hosted calls'],
  ] as const) {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/costs/matches?*', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(`${dashboard.origin}${view}?range=1h`, { waitUntil: 'commit' })
    await page.waitForResponse((response) => response.url().includes(api))
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    assert.doesNotMatch(await page.getByRole('main').innerText(), /\d unpriced/, view)
    resolve()
    await page.getByText(known, { exact: true }).first().waitFor()
    await page.unroute('**/api/costs/matches?*')
  }
})

test('a price is set; what it would change is shown, and the past changes only when it is told to', async () => {
  await using dir = await makeTempDir()
  writeLocalCalls(dir.path)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { path: '/costs?range=1h' })
  const { page } = opened
  await untilReady(page)
  const prices = page.getByRole('region', { name: 'Prices' })
  // Unpriced models stand first.
  assert.match(await prices.getByRole('row').nth(1).innerText(), /^qwen3:8b/)
  await prices.getByRole('button', { name: 'Set price qwen3:8b' }).click()
  const dialog = page.getByRole('dialog')
  const form = prices.getByRole('form', { name: /^Price of .*qwen3:8b$/ })
  const input = form.getByLabel(/^Input,/)
  // The focus goes into the form, and back to its button.
  await form.getByLabel('Billed').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await prices.getByRole('button', { name: 'Set price qwen3:8b' }).and(page.locator(':focus')).click()
  await input.fill('much')
  await form.getByRole('button', { name: 'Save' }).click()
  for (const field of [input, form.getByLabel(/^Output,/)]) {
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
  }
  await input.fill('2')
  // The last calls of the model leave the range: what was typed stays.
  await page.route('**/api/costs/matches?*', (route) =>
    route.fulfill({ json: { matches: [], counted_from: null } }),
  )
  await page.getByRole('button', { name: 'Refresh' }).click()
  await prices.getByText('No priced calls in this range.').waitFor()
  assert.equal(await input.inputValue(), '2')
  await page.unroute('**/api/costs/matches?*')
  await form.getByLabel(/^Output,/).fill('4,5')
  await form.getByRole('button', { name: 'Save' }).click()
  assert.equal(await form.getByLabel(/^Output,/).getAttribute('aria-invalid'), 'true')
  await form.getByLabel(/^Output,/).fill('4.5')
  const dryRuns: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/costs/reprice')) dryRuns.push(request.postData() ?? '')
  })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await prices.getByText(/^2 calls .+ can now be priced: \$/).waitFor()
  const spent = page.getByRole('list', { name: 'Figures' }).getByRole('listitem').first()
  await spent.getByText('+ 2 unpriced calls').waitFor()
  const before = await spent.innerText()
  await prices.getByRole('button', { name: 'Preview…' }).click()
  await dialog.getByRole('row', { name: /^All 2 – → \$/ }).waitFor()
  await dialog.getByText('2 calls without a cost will get one.').waitFor()
  assert.equal(await spent.innerText(), before)
  assert.equal(dryRuns.length, 1, 'what the offer has found is not looked for again')
  await dialog.getByRole('button', { name: 'Recalculate 2 calls' }).click()
  await dialog.getByText(/^2 calls recalculated: \+\$/).waitFor()
  await dialog.getByRole('button', { name: 'Close', exact: true }).click()
  await spent.getByText(/ none unpriced$/).waitFor()
  // The month, too, is asked for again.
  const month = new Date().toISOString().slice(0, 7)
  const monthly = await dashboard.ask('GET', `/api/query?group_by=day&measures=none&from=${month}-01`)
  const { cost_usd: usd } = ((await monthly.json()) as { summary: Spent }).summary
  await page.getByText(`${dollars(usd)} so far`, { exact: true }).waitFor({ timeout: 5000 })

  const own = await dashboard.ask('GET', '/api/query?model=qwen3:8b')
  const [{ id: ownId }] = ((await own.json()) as { calls: readonly [{ id: string }] }).calls
  const untilCost = async (words: readonly string[]): Promise<void> => {
    await page.goto(`${dashboard.origin}/calls?call=${ownId}`)
    const cost = dialog.locator('section').filter({ has: page.getByRole('heading', { name: 'Cost' }) })
    await cost.waitFor()
    assert.deepEqual((await cost.innerText()).split(/\n+/).slice(1), words)
    await page.goto(`${dashboard.origin}/costs?range=1h`)
  }
  await untilCost([
    'Input',
    '$0.0003600 for 180',
    'Cached input',
    '$0.0020480 for 1,024',
    'Output',
    '$0.0007425 for 165',
    'Total',
    '$0.0031505',
  ])

  await prices.getByRole('button', { name: 'Change qwen3:8b' }).click()
  await input.fill('3')
  await form.getByRole('button', { name: 'Remove' }).click()
  // Escape takes back the question, not what was typed.
  await dialog.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await input.inputValue(), '3')
  await form.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await prices.getByRole('cell', { name: /^Self-hosted/ }).waitFor()
  // What it cost is what it cost.
  await spent.getByText(/ none unpriced$/).waitFor()
  await untilCost(['Parts', 'Unknown: its price has changed since'])

  const answer = await dashboard.ask('GET', '/api/query?model=gpt-5.1-mini')
  const { calls } = (await answer.json()) as { calls: readonly { id: string }[] }
  await page.goto(`${dashboard.origin}/calls?call=${calls[0]?.id}`)
  await dialog.getByRole('link', { name: 'price of openai/gpt-5.1-mini' }).click()
  await prices.waitFor()
  assert.equal(new URL(page.url()).searchParams.get('price'), 'openai/gpt-5.1-mini')
})

test('prices are synced, thousands are searched, and a broken file is told with its place while the last one holds', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'three')
  const list = join(dir.path, 'list.json')
  writeFileSync(list, JSON.stringify(litellmList(3000, 5)))
  const file = priceFileOf(pageDatabase(dir.path))
  mkdirSync(dirname(file), { recursive: true })
  await using dashboard = await startDashboardProcess({
    directory: dir.path,
    args: ['--pricing-source', list],
  })
  await using opened = await openDashboardPage(dashboard, { path: '/costs' })
  const { page } = opened
  await untilReady(page)
  const prices = page.getByRole('region', { name: 'Prices' })
  const looked = page.waitForResponse(/\/api\/costs\/reprice$/)
  await prices.getByRole('button', { name: 'Sync prices' }).click()
  await prices.getByText(/LiteLLM, synced just now$/).waitFor()
  await prices.getByText(/^Last sync .+: .*[\d,]+ added/).waitFor()
  await prices.getByRole('button', { name: /^All \(\d.\d{3}\)$/ }).click()
  // Each name unfolds all rates of its price.
  const names = prices.getByRole('rowheader').getByRole('button')
  assert.equal(await names.count(), 50)
  // Headings sort all of them both ways, and the address keeps it.
  const heading = prices.getByRole('columnheader', { name: 'Output' })
  const output = prices.locator('tbody td[data-label="Output"]').first()
  await heading.getByRole('button').click()
  await heading.and(page.locator('[aria-sort="descending"]')).waitFor()
  const dearest = Number((await output.innerText()).replace(/[$,]/g, ''))
  await heading.getByRole('button').click()
  await heading.and(page.locator('[aria-sort="ascending"]')).waitFor()
  const cheapest = Number((await output.innerText()).replace(/[$,]/g, ''))
  assert.ok(cheapest < dearest, `${cheapest} and ${dearest}`)
  assert.equal(new URL(page.url()).search, '?price_order=output&price_rising=true')
  await page.goBack()
  await page.goBack()
  // A phone has no headings: a menu chooses the order.
  const order = prices.getByRole('combobox', { name: 'Order' })
  await order.waitFor({ state: 'hidden' })
  await page.setViewportSize({ width: 390, height: 844 })
  await heading.waitFor({ state: 'hidden' })
  const label = `getComputedStyle(document.querySelector('tbody .is-words'), '::before').content`
  assert.equal(await page.evaluate(label), '"Source"')
  assert.equal(await order.inputValue(), 'Your own first')
  await order.selectOption('Cheapest output')
  await untilTrue(page, `location.search === '?price_order=output&price_rising=true'`)
  assert.equal(Number((await output.innerText()).replace(/[$,]/g, '')), cheapest)
  await order.selectOption('Your own first')
  await untilTrue(page, `location.search === ''`)
  await page.setViewportSize({ width: 1280, height: 720 })
  const name = await names.nth(7).innerText()
  await prices.getByRole('searchbox').fill(name)
  await page.getByText(name, { exact: true }).waitFor()
  assert.ok((await names.count()) < 50)
  assert.equal(new URL(page.url()).searchParams.get('price'), name)
  await prices.getByRole('button', { name, exact: true }).click()
  await prices
    .getByRole('table', { name: `Rates of ${name}` })
    .first()
    .waitFor()

  // Whether calls can be priced now is looked for by the new prices.
  await looked
  writeFileSync(file, '{\n  "version": 1,\n  "models": {"a": {"prices": 7}}\n}')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await prices
    .getByText(/Could not read the price file\..+ Line 3, column \d+\. The last valid file stays in force/)
    .waitFor()
  assert.equal(await names.first().innerText(), name)
})
