import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { addPast } from '../../bench/generate/add-past.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilReady, untilStill, untilTrue } from './dashboard-page.ts'
import { pageDatabase } from './page-data.ts'
import { dashboardOver } from './shared-dashboard.ts'

test('a list ends with the window, so that the page beside it does not scroll', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard, { viewport: { width: 1440, height: 900 } })
  const { page } = opened
  for (const path of ['/calls', '/sessions']) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
    // The number of calls makes the list longer than the window.
    await untilTrue(page, `document.querySelector('main .list-scroller, main [class*=scroller]') !== null`)
    const { scrollHeight, scrollWidth } = await page.evaluate<Record<string, number>>(
      '({ scrollHeight: document.documentElement.scrollHeight, scrollWidth: document.documentElement.scrollWidth })',
    )
    assert.deepEqual([scrollWidth, scrollHeight], [1440, 900], path)
  }
})

test('keys alone go through the list, open a call, go on from there and come back', async () => {
  const dashboard = await dashboardOver('day')
  const answer = await dashboard.ask('GET', '/api/query?limit=40')
  const { calls } = (await answer.json()) as { readonly calls: readonly CallJson[] }
  const idAt = (index: number): string | undefined => calls[index]?.id
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const dialog = page.getByRole('dialog')
  const press = (key: string): Promise<void> => page.keyboard.press(key)
  const untilFocus = (index: number): Promise<void> =>
    page.locator(`a:focus[href*="call=${idAt(index)}"]`).waitFor()
  const untilOpen = (index: number): Promise<void> =>
    dialog.getByText(idAt(index) ?? '', { exact: true }).waitFor()
  await page.getByRole('table', { name: 'Calls' }).getByRole('link').first().waitFor()

  await press('j')
  await untilFocus(0)
  for (let index = 1; index <= 30; index++) await press(index % 2 === 0 ? 'j' : 'ArrowDown')
  await untilFocus(30)
  await press('k')
  await untilFocus(29)
  await press('Enter')
  await untilOpen(29)
  assert.equal(new URL(page.url()).searchParams.get('call'), idAt(29))
  assert.equal(await page.evaluate(`document.querySelector('dialog').contains(document.activeElement)`), true)
  await press('j')
  await untilOpen(30)
  await press('j')
  await untilOpen(31)
  await press('Escape')
  await untilFocus(31)
  await dialog.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).searchParams.get('call'), null)

  await press('Enter')
  await untilOpen(31)
  await page.goBack()
  await untilFocus(31)
  await page.goForward()
  await untilOpen(31)
})

test('the list beside the panel goes on: arrows, keys and presses replace the call, Escape leads back to its row', async () => {
  const dashboard = await dashboardOver('day')
  const answer = await dashboard.ask('GET', '/api/query?limit=40')
  const { calls } = (await answer.json()) as { readonly calls: readonly CallJson[] }
  const idAt = (index: number): string => calls[index]?.id ?? ''
  await using opened = await openDashboardPage(dashboard, {
    path: '/calls',
    viewport: { width: 1440, height: 900 },
    bypassCSP: true,
  })
  const { page } = opened
  const panel = page.getByRole('dialog')
  const rows = page.getByRole('table', { name: 'Calls' }).locator('tbody tr:not(.gap)')
  const untilOpen = async (index: number): Promise<void> => {
    await panel.getByText(idAt(index), { exact: true }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('call'), idAt(index))
  }
  const rowHasFocus = (index: number): Promise<void> =>
    page.locator(`a:focus[data-id="${idAt(index)}"]`).waitFor()
  await rows.nth(2).click()
  await untilOpen(2)
  // It was opened from the list, and has the focus: its title takes the arrows.
  await page.locator('#call-panel-title:focus').waitFor()
  await page.keyboard.press('ArrowDown')
  await untilOpen(3)
  await page.keyboard.press('2')
  await panel.getByRole('button', { name: 'Chat', pressed: true }).waitFor()
  // Nothing is dimmed, and nothing of the table lies below the panel.
  assert.equal(await page.evaluate('document.querySelector("dialog:modal")'), null)
  const [table, side] = [await page.locator('.calls-scroller').boundingBox(), await panel.boundingBox()]
  assert.ok(table !== null && side !== null && table.x + table.width <= side.x, JSON.stringify([table, side]))
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  await rows.nth(6).click({ position: { x: 300, y: 10 } })
  await untilOpen(6)
  assert.equal(new URL(page.url()).searchParams.get('tab'), 'chat')
  await rowHasFocus(6)
  await page.keyboard.press('ArrowDown')
  await untilOpen(7)
  await rowHasFocus(7)
  await page.keyboard.press('k')
  await untilOpen(6)
  await rowHasFocus(6)
  // A menu that is open is closed first.
  await page.getByRole('button', { name: 'Export' }).click()
  await page.keyboard.press('Escape')
  await page.locator('.popover:popover-open').waitFor({ state: 'detached' })
  await untilOpen(6)
  await page.getByRole('button', { name: 'Errors only' }).focus()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await rowHasFocus(6)
  // One step leads back from all of it.
  assert.equal(new URL(page.url()).search, '')

  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('.calls-cards tbody tr:not(.gap)').first().click()
  await panel.waitFor()
  assert.notEqual(await page.evaluate('document.querySelector("dialog:modal")'), null)
  assert.deepEqual(await panel.boundingBox(), { x: 0, y: 0, width: 390, height: 844 })
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).pathname, '/calls')
})

test('the panel says what the dashboard answers of a call, and its parts come to its total', async () => {
  const dashboard = await dashboardOver('three')
  const { calls } = (await (await dashboard.ask('GET', '/api/query')).json()) as {
    readonly calls: readonly CallJson[]
  }
  await using opened = await openDashboardPage(dashboard, { path: '/calls', expected: / 404 / })
  const { page } = opened
  // The newest first: one without a price, one that broke off, and one that waited.
  const times = [
    ['2.31 s', '4 µs', null],
    ['2.31 s', '4 µs', null],
    ['2.72 s', '413 ms', '595 ms from the request’s arrival'],
  ] as const
  assert.equal(calls.length, times.length)
  for (const [at, [total, waited, felt]] of times.entries()) {
    const call = calls[at]
    assert.ok(call !== undefined)
    await page.goto(`${dashboard.origin}/calls?call=${call.id}`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Upstream' }).waitFor()
    const row = (name: string, figure: string): Promise<void> =>
      dialog.getByRole('row', { name: `${name} ${figure}`, exact: true }).waitFor()
    const term = dialog.locator('dl > div').filter({ has: page.getByText('Total', { exact: true }) })
    assert.equal((await term.first().locator('dd').innerText()) ?? '', total)
    await row('Waiting for slot', waited)
    await row('Streaming', '2.13 s')
    const text = await dialog.innerText()
    assert.ok(text.includes('Time to first token 183 ms'), text)
    // If it reads the same, once is enough.
    assert.equal(text.includes('from the request’s arrival'), felt !== null, text)
    assert.ok(felt === null || text.includes(felt), text)
    for (const word of [call.id, call.model, call.client, call.user_agent, call.upstream, call.instance]) {
      if (word !== null) assert.ok(text.includes(word), word)
    }
    assert.equal(text.includes('no price'), call.cost_usd === null && call.usage_source !== 'none')
    assert.equal(
      text.includes('The upstream’s connection broke before the response was complete.'),
      call.failure_code === 'upstream_reset',
    )
  }
  await page.goto(`${dashboard.origin}/calls?call=00000000000`)
  await page.getByText('No call with this ID is recorded').waitFor()
})

test('Export saves all calls of the filters, however many and in whichever order they are listed', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(pageDatabase(dir.path))
  const endMs = Date.UTC(2026, 10, 21)
  addPast(database, { calls: 11_000, days: 2, endMs, seed: 1 })
  const count = (which: string): number =>
    Number(database.prepare(`SELECT count(*) AS n FROM calls_readable WHERE ${which}`).get()?.['n'])
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  const range = 'from=2026-11-01T00:00:00Z&to=2026-11-21T00:00:00Z'
  const failed = count('failed')
  assert.ok(failed > 100)
  for (const [query, format, calls] of [
    [range, 'NDJSON', 11_000],
    [`${range}&errors_only=1&sort=duration`, 'CSV', failed],
  ] as const) {
    const path = `/calls?${query}`
    await using opened = await openDashboardPage(dashboard, { path, acceptDownloads: true })
    await opened.page.getByRole('button', { name: 'Export' }).click()
    await opened.page.getByText(new RegExp(`^All ${calls.toLocaleString('en')} calls, newest`)).waitFor()
    const [download] = await Promise.all([
      opened.page.waitForEvent('download'),
      opened.page.getByRole('link', { name: new RegExp(`^${format},`) }).click(),
    ])
    assert.equal(
      download.suggestedFilename(),
      `tokenweir-calls_${format === 'CSV' ? 'failed_' : ''}2026-11-01_2026-11-21.${format.toLowerCase()}`,
    )
    assert.equal(await download.failure(), null)
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n')
    assert.equal(lines.length, format === 'CSV' ? calls + 1 : calls)
  }
  database.close()
})

test('in a zone where midnight is six hours before noon in UTC, Today is another range than six hours', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard, {
    path: '/calls?range=6h',
    timezoneId: 'America/Chicago',
  })
  const { page } = opened
  await untilReady(page)
  await page.getByRole('button', { name: 'Custom', exact: true }).click()
  const isOfToday = (url: string): boolean => /\/api\/query\?from=[^&]+T0[56]%3A00%3A00/.test(url)
  await Promise.all([
    page.waitForRequest((request) => isOfToday(request.url()), { timeout: 5000 }),
    page.getByRole('button', { name: 'Today', exact: true }).click(),
  ])
})

test('Escape closes the panel after a filter was chosen beside it, and the filter stays', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard, {
    path: '/calls',
    viewport: { width: 1440, height: 900 },
  })
  const { page } = opened
  const panel = page.getByRole('dialog')
  await page.getByRole('table', { name: 'Calls' }).locator('tbody tr:not(.gap)').nth(2).click()
  await panel.waitFor()
  await page.getByRole('button', { name: 'Errors only' }).click()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).search, '?errors_only=true')
})
