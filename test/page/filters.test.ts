import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { callTypeCodes } from '../../src/call/fields/call-fields.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { violations } from './axe-violations.ts'
import { type DashboardPage, openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { writeRuns } from './session-data.ts'
import { dashboardOver, shareDashboard } from './shared-dashboard.ts'

// More clients than a glance takes, and more sessions than one answer has.
const old = Array.from({ length: 120 }, (_, at) => ({
  session: `old-${at}`,
  client: `client-${at % 10}`,
  calls: 1,
  agoMs: 7_000_000 - at * 1000,
}))
const busy = await shareDashboard((folder) =>
  writeRuns(folder, [...old, { session: 'the-first-of-all', client: 'codex', calls: 30, agoMs: 80_000_000 }]),
)

const hourMs = 3_600_000
const tagged = await shareDashboard((folder) =>
  writeRuns(folder, [
    { session: 'a', calls: 12, agoMs: 5 * hourMs, tags: 'team:search,env:prod' },
    { session: 'b', calls: 7, agoMs: 4 * hourMs, tags: 'team:ads,env:prod' },
    { session: 'c', calls: 4, agoMs: 3 * hourMs },
    // Beyond a week, which sums alone can answer in time.
    { session: 'd', calls: 5, agoMs: 20 * 24 * hourMs, tags: 'team:ads' },
  ]),
)

const requestId = 'chatcmpl-9f86d081884c7d65'

const searched = await shareDashboard((folder) => {
  writePageData(folder, 'day')
  writeRuns(folder, [{ session: 'old run', calls: 9, agoMs: 5 * 86_400_000 }])
  const database = openForWriting(pageDatabase(folder))
  database
    .prepare(
      'UPDATE calls SET upstream_request_id = ? WHERE id = (SELECT max(id) FROM calls WHERE call_type_id = ?)',
    )
    .run(requestId, callTypeCodes.chat)
  database.close()
})

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
  const to = await page.getByLabel('To', { exact: true }).inputValue()
  await page.getByLabel('From').fill('2026-11-21T09:00')
  await button('Use UTC').click()
  await page.getByText('Times in UTC').waitFor()
  // What was typed stays, and the time that was not is shown in UTC.
  assert.equal(await page.getByLabel('From').inputValue(), '2026-11-21T09:00')
  assert.ok((await page.getByLabel('To', { exact: true }).inputValue()) < to)
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

/** The buttons of the filters that are covered in their middle. */
const coveredInBar = `[...document.querySelectorAll('.filter-bar button')].filter((button) => {
  const { x, y, width, height } = button.getBoundingClientRect()
  const chips = button.closest('.filter-chips')
  return chips === null && !button.contains(document.elementFromPoint(x + width / 2, y + height / 2)?.closest('button'))
}).map((button) => button.innerText || button.ariaLabel)`

test('the filters are one row on a wide screen, whatever is chosen, with the whole time of the update', async () => {
  const dashboard = await dashboardOver('three')
  const viewport = { width: 1440, height: 900 }
  const path =
    '/?from=2026-11-20T10:00:00Z&to=2026-11-21T09:30:00Z&model=a-model-of-a-long-name&client=one&client=two&client=three' +
    '&session=nightly&status=429&errors_only=true&call_type=chat&call_type=embedding&against=previous&tz=utc'
  const heights: (number | undefined)[] = []
  for (const asked of ['/', '/?from=2025-11-26T00:00:00Z&to=2026-11-26T12:00:00Z', path]) {
    await using opened = await openDashboardPage(dashboard, {
      viewport,
      path: asked,
      timezoneId: 'Asia/Kathmandu',
    })
    const stamp = opened.page.getByText(/^Updated /)
    await stamp.waitFor()
    const widths = await stamp.evaluate((box: { scrollWidth: number; clientWidth: number }) => [
      box.scrollWidth,
      box.clientWidth,
    ])
    assert.equal(widths[0], widths[1], 'the stamp is cut')
    assert.deepEqual(await opened.page.evaluate(coveredInBar), [])
    heights.push((await opened.page.getByRole('group', { name: 'Filters' }).boundingBox())?.height)
    assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth'), viewport.width)
  }
  assert.deepEqual(new Set(heights).size, 1)
})

test('while it has not answered the stamp says since when, and how to ask again', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { expected: /ERR_FAILED/ })
  const { page, button } = opened
  // The page chooses the hour in which there are calls.
  await page.waitForURL(({ search }) => search === '?range=1h')
  await page.getByText('per minute', { exact: true }).first().waitFor()
  await page.getByText(/^Updated \d\d:\d\d:\d\d$/).waitFor()
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

const wide = { viewport: { width: 1440, height: 900 }, bypassCSP: true } as const

test('clients and sessions are chosen from those that there are, and found by their names', async () => {
  await using opened = await openDashboardPage(busy, { ...wide, expected: / 503 / })
  const { page } = opened
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
  await untilAddress(opened, '/?client=client-3')
  await search.fill('')
  // The others can still be added.
  await menu.getByRole('checkbox', { name: 'codex' }).check()
  await untilAddress(opened, '/?client=client-3&client=codex')
  await menu.getByRole('checkbox', { name: 'client-3' }).uncheck()
  await untilAddress(opened, '/?client=codex')

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
  await untilAddress(opened, '/')

  // It is not among the hundred that come first.
  await inMenu('Back to all filters').click()
  await inMenu('Session').click()
  await menu.getByText('Only 100 are listed. Search to find others.').waitFor()
  await menu.getByRole('checkbox', { name: 'the-first' }).waitFor({ state: 'detached' })
  await menu.getByRole('searchbox', { name: 'Find session' }).fill('FIRST-of')
  await menu.getByRole('checkbox', { name: 'the-first-of-all' }).check()
  await untilAddress(opened, '/?session=the-first-of-all')
  await menu.getByRole('checkbox', { name: 'the-first-of-all' }).uncheck()
  await untilAddress(opened, '/')
  await menu.getByRole('searchbox').fill('nobody’s')
  await menu.getByText('No sessions match.').waitFor()
})

test('the menu gives the focus back when it is closed, and begins anew when it is opened', async () => {
  await using opened = await openDashboardPage(busy, wide)
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

test('a tag is chosen among those that calls have, and calls are compared by its key', async () => {
  await using opened = await openDashboardPage(tagged)
  const { page, button } = opened
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
  await untilAddress(opened, '/?tag=env:prod')
  await page.keyboard.press('Escape')
  await button('Remove Tag: env:prod').waitFor()

  await page.goto(`${tagged.origin}/compare?range=30d&tag=env:prod&tag=team:ads&tag=team:search`)
  await button('Tag').click()
  // The key with most calls comes first.
  await untilAddress(opened, '/compare?range=30d&tag=env:prod&tag=team:ads&tag=team:search&by=tag:env')
  await page.getByRole('combobox', { name: 'Tag key' }).selectOption('team')
  const rows = page.getByRole('table', { name: 'Calls by tag team' }).getByRole('row')
  await rows.filter({ hasText: /search\s*12/ }).waitFor()
  assert.equal(await rows.count(), 3)
  // The other key's filter stays.
  await rows.getByRole('link', { name: 'search' }).click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  await untilAddress(opened, '/calls?range=30d&tag=env:prod&tag=team:search')

  await page.goto(`${tagged.origin}/costs?range=30d&by=tag:team`)
  const spend = page.getByRole('table', { name: 'Spend by tag team' })
  await spend.getByRole('link', { name: 'ads' }).waitFor()
  assert.match(await spend.getByRole('row').filter({ hasText: 'ads' }).innerText(), /\b12\b/)
  await spend.getByText('Without this tag').waitFor()
  await untilReady(page)
  assert.deepEqual(await violations(page), [])
})

/** Returns the newest chat call: other calls may name no model. */
const newest = async (): Promise<CallJson> => {
  const answer = await searched.ask('GET', '/api/query?limit=1&call_type=chat')
  const [call] = ((await answer.json()) as { readonly calls: readonly CallJson[] }).calls
  assert.ok(call !== undefined)
  return call
}

const finder = (page: Page): Locator => page.getByRole('dialog', { name: 'Find' })
const field = (page: Page): Locator => finder(page).getByRole('combobox')

/** Types a text and Enter into the dialog, which `/` opens. */
async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await field(page).fill(text)
  await page.keyboard.press('Enter')
  await finder(page).waitFor({ state: 'detached' })
}

test('what is found leads to its view, whatever is filtered there', async () => {
  const call = await newest()
  await using opened = await openDashboardPage(searched, {
    path: '/costs?range=7d&client=nobody',
  })
  const { page } = opened
  await untilReady(page)
  const { model, client } = call
  assert.ok(model !== null && client !== null)
  for (const [text, path, query] of [
    [model.toUpperCase(), '/calls', { range: '7d', model }],
    [client, '/calls', { range: '7d', client }],
    ['LD RU', '/sessions', { session: 'old run' }],
    ['429', '/calls', { status: '429' }],
    ['upstream_reset', '/calls', { q: 'upstream_reset' }],
    [` ${call.id.toUpperCase()} `, '/calls', { q: 'upstream_reset', call: call.id }],
  ] as const) {
    await find(page, text)
    await page.waitForURL(
      (url) =>
        url.pathname === path &&
        Object.entries(query).every(([name, value]) => url.searchParams.get(name) === value),
    )
  }
  await page.getByRole('dialog').getByRole('heading', { name: model }).waitFor()
})

test('an upstream’s id of a request finds its call in the range', async () => {
  const { id } = await newest()
  await using opened = await openDashboardPage(searched)
  const { page } = opened
  await untilReady(page)
  await find(page, requestId)
  await page.waitForURL((url) => url.searchParams.get('call') === id)
  await page.goto(`${searched.origin}/?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`)
  await untilReady(page)
  await page.keyboard.press('/')
  await field(page).fill(requestId)
  await finder(page).getByText('1 result.').waitFor()
  await finder(page)
    .getByRole('option', { name: /failure code or trace/ })
    .waitFor()
})

test('the arrow keys choose, Escape closes, and the focus goes back', async () => {
  await using opened = await openDashboardPage(searched, {
    viewport: { width: 390, height: 800 },
  })
  const { page, button } = opened
  await untilReady(page)
  await button('Find').click()
  await finder(page)
    .getByRole('status')
    .getByText(/^\d+ results\./)
    .waitFor()
  for (const kind of ['Models', 'Clients', 'Sessions']) {
    const ofKind = await finder(page).getByRole('group', { name: kind }).getByRole('option').count()
    assert.ok(ofKind > 0 && ofKind <= 8, `${ofKind} ${kind}`)
  }
  const chosen = (): Promise<number> =>
    page.evaluate<number>(`[...document.querySelectorAll('[role="option"]')].findIndex(
      ({ id }) => id === document.activeElement.getAttribute('aria-activedescendant'))`)
  assert.equal(await chosen(), 0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  assert.equal(await chosen(), 2)
  await page.keyboard.press('ArrowUp')
  assert.equal(await chosen(), 1)
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await page.keyboard.press('Escape')
  await finder(page).waitFor({ state: 'detached' })
  await button('Find').and(page.locator(':focus')).waitFor()
  // From within a field, too.
  await page.goto(`${searched.origin}/sessions`)
  await page.getByRole('searchbox', { name: 'Find session' }).focus()
  await page.keyboard.press('Control+k')
  await field(page).waitFor()
})
