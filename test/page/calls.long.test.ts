import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallType } from '../../src/call/call.ts'
import { openEvents, untilCallsAreTold } from '../dashboard/event-reader.ts'
import { chatCall } from '../store/sample-call.ts'
import { writeCalls } from '../store/write-calls.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { naughtyStrings } from './naughty-strings.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { sampleAnswer, sampleRequest } from './sample-payloads.ts'
import { dashboardOver, shareDashboard } from './shared-dashboard.ts'

interface Listed {
  readonly calls: readonly CallJson[]
  readonly summary: { readonly calls: number; readonly errors: number }
}

/** The same instant gives the same calls. Nothing comes to these twelve hours, and nothing leaves them. */
const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const endMs = Math.floor(nowMs / hourMs) * hourMs - 2 * hourMs
const range = `from=${new Date(endMs - 12 * hourMs).toISOString()}&to=${new Date(endMs).toISOString()}`
const dashboard = await shareDashboard((folder) => writePageData(folder, 'day', nowMs))

async function listed(dashboard: DashboardProcess, query: string): Promise<Listed> {
  return (await (await dashboard.ask('GET', `/api/query?${query}&limit=10000`)).json()) as Listed
}

/** The card with the bars, the tools and the list. */
const cardOf = (page: Page): Locator => page.getByRole('region', { name: 'Calls', exact: true })

/** The rows' links, in a table or in cards. */
const linksOf = (page: Page): Locator =>
  page
    .getByLabel('Calls', { exact: true })
    .filter({ hasNot: page.getByRole('slider') })
    .getByRole('link')

const summaryOf = (page: Page): Locator => cardOf(page).getByText(/^([\d,]+ of )?[\d,]+ calls?$/)

/** Digits alone: thousands are parted by a comma. */
async function totalOf(page: Page): Promise<number> {
  const words = await summaryOf(page).innerText()
  return Number((/(?:of )?([\d,]+) calls?/.exec(words)?.[1] ?? '').replaceAll(',', ''))
}

function inThousands(count: number): string {
  return count < 1000 ? String(count) : `${Math.floor(count / 1000)},${String(count % 1000).padStart(3, '0')}`
}

const idsOf = (page: Page): Promise<string[]> =>
  linksOf(page).evaluateAll((links) => links.map((link) => link.getAttribute('data-id') ?? ''))

test('every filter is told by the address, and the list is what the dashboard answers to it', async () => {
  const { calls } = await listed(dashboard, range)
  const failed = calls.find(
    ({ failure_code: code, model, client, status }) =>
      code !== null && model !== null && client !== null && status !== null,
  )
  assert.ok(failed !== undefined)
  const filters = [
    `model=${encodeURIComponent(String(failed.model))}`,
    'call_type=embedding',
    'errors_only=true',
    `outcome=${failed.outcome}`,
    `failure_code=${failed.failure_code}`,
    `client=${encodeURIComponent(String(failed.client))}`,
    'min_ms=500&max_ms=3000',
    `q=${failed.failure_code}`,
    `status=${failed.status}`,
  ]
  await using opened = await openDashboardPage(dashboard, { path: `/calls?${range}` })
  const { page } = opened
  for (const filter of filters) {
    const { summary } = await listed(dashboard, `${range}&${filter}`)
    assert.ok(summary.calls > 0 && summary.calls < calls.length, filter)
    await page.goto(`${dashboard.origin}/calls?${range}&${filter}`)
    await summaryOf(page).waitFor()
    assert.equal(await totalOf(page), summary.calls, filter)
  }

  // By hand: a failure code from its list, then Back, Forward and a reload.
  await page.goto(`${dashboard.origin}/calls?${range}`)
  await opened.button('Failure').click()
  await page.getByRole('group', { name: 'Failures' }).getByRole('checkbox').first().check()
  await page.getByRole('button', { name: /^Remove Failure: / }).waitFor()
  await page.keyboard.press('Escape')
  const chosen = new URL(page.url()).searchParams.get('failure_code')
  const { summary } = await listed(dashboard, `${range}&failure_code=${chosen}`)
  const untilTotal = (total: number): Promise<void> =>
    summaryOf(page)
      .filter({ hasText: new RegExp(`(^|of )${inThousands(total)} calls`) })
      .waitFor()
  await untilTotal(summary.calls)
  await page.goBack()
  await untilTotal(calls.length)
  await page.goForward()
  await page.reload()
  await untilTotal(summary.calls)
})

test('scrolling lists each call once, in order, and few rows are there at a time', async () => {
  const query = `${range}&call_type=embedding`
  const { calls } = await listed(dashboard, query)
  assert.ok(calls.length > 250, String(calls.length))
  for (const width of [1280, 390]) {
    await using opened = await openDashboardPage(dashboard, {
      path: `/calls?${query}`,
      viewport: { width, height: 800 },
    })
    const { page } = opened
    await linksOf(page).first().waitFor()
    const deadline = performance.now() + 90_000
    const seen: string[] = []
    let mostNodes = 0
    while (seen.length < calls.length) {
      const ids = await idsOf(page)
      // The row with the focus stays the first of them, wherever the list is.
      for (const id of ids) if (!seen.includes(id)) seen.push(id)
      mostNodes = Math.max(mostNodes, await page.evaluate<number>(`document.querySelectorAll('*').length`))
      await page.evaluate(`new Promise((resolve) => {
        (document.querySelector('.calls-scroller') ?? document.scrollingElement).scrollBy(0, 500)
        requestAnimationFrame(resolve)
      })`)
      assert.ok(performance.now() < deadline, `${seen.length} of ${calls.length} calls were seen`)
    }
    await page.getByText(`${calls.length} calls · end of list`).waitFor()
    assert.deepEqual(
      seen,
      calls.map(({ id }) => id),
    )
    assert.ok(mostNodes < 1500, String(mostNodes))
  }
})

test('new calls are counted, and come in when they are asked for', async () => {
  await using directory = await makeTempDir()
  writePageData(directory.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: directory.path })
  const write = (types: readonly CallType[], mark = 0): void => {
    const firstId = Date.now() * idsPerMs
    writeCalls(
      pageDatabase(directory.path),
      types.map((callType, index) => ({ ...chatCall(firstId + index), callType, tags: `n:${mark}` })),
    )
  }
  using reader = await openEvents(dashboard.port, 'calls')
  let listed = 3
  const isTold = (): boolean =>
    reader.events.some(({ data }) =>
      (data as Pick<Listed, 'calls'>).calls.some(({ tags }) => tags === `n:${listed}`),
    )
  await untilCallsAreTold(reader, () => write(['chat'], (listed += 1)))
  await reader.until(() => isTold() || undefined, 'the last call')

  await using opened = await openDashboardPage(dashboard, {
    path: '/calls?call_type=chat',
  })
  const { page } = opened
  await linksOf(page).first().waitFor()
  // By the same stream as new calls.
  await page.getByRole('banner').getByText('Stopped').first().waitFor()
  const topId = async (): Promise<string | undefined> => (await idsOf(page))[0]
  const before = await topId()
  write(['chat'])
  await opened.button('1 new call').waitFor()
  write(['embedding', 'chat'])
  await opened.button('2 new calls').waitFor()
  assert.equal(await topId(), before, 'no row has moved')
  // Not for a moment are calls new that the list has.
  await page.evaluate(`new MutationObserver(() => {
    const words = document.querySelector('main').innerText
    if (words.includes('${listed + 2} calls · end of list')) globalThis.atOnce ??= words
  }).observe(document.querySelector('main'), { childList: true, characterData: true, subtree: true })`)
  await opened.button('2 new calls').click()
  await page.getByText(`${listed + 2} calls · end of list`).waitFor()
  assert.doesNotMatch(String(await page.evaluate('globalThis.atOnce')), /undefined|new calls?/)
  assert.notEqual(await topId(), before)
  await page.getByRole('button', { name: /new calls?/ }).waitFor({ state: 'detached' })
})

test('an empty list says why it is empty, and a refused one what can be done', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/calls', expected: / (409|50[23]) / })
  const { page } = opened
  await page.getByRole('heading', { name: 'No calls yet' }).waitFor()
  await page
    .getByRole('region', { name: 'Calls' })
    .getByText(/^curl http/)
    .waitFor()
  writePageData(dashboard.directory, 'three')
  await page.goto(`${dashboard.origin}/calls?client=nobody`)
  await page.getByRole('heading', { name: 'No calls match' }).waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('3 calls · end of list').waitFor()

  const refuse = async (status: number, code: string, message: string, data?: object): Promise<void> => {
    await page.route('**/api/query?*', (route) =>
      route.fulfill({
        status,
        contentType: 'application/json',
        body: JSON.stringify({ error: { code, message, data } }),
      }),
    )
  }
  await refuse(
    409,
    'folded_range',
    'Calls before 1999-01-01T00:00:00Z are kept as sums: the page must not read this sentence.',
    { from: '2026-11-01T00:00:00.000Z' },
  )
  await page.goto(`${dashboard.origin}/calls?client=nobody`)
  const begin = page.getByRole('link', { name: 'Show range with individual calls' })
  assert.match((await begin.getAttribute('href')) ?? '', /from=2026-11-01T00:00:00Z&to=.*&client=nobody/)

  await page.unroute('**/api/query?*')
  await refuse(503, 'too_slow', 'The answer takes too long.')
  await page.goto(`${dashboard.origin}/calls`)
  await page.getByRole('alert').getByText('The answer takes too long.').waitFor()
  await page.unroute('**/api/query?*')
  // Of a proxy in between.
  const proxyPage = { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }
  await page.route('**/api/query?*', (route) => route.fulfill(proxyPage))
  await opened.button('Try again').click()
  await page.getByRole('alert').getByText('The dashboard returned status 502.').waitFor()
  await page.unroute('**/api/query?*')
  await opened.button('Try again').click()
  await linksOf(page).first().waitFor()
})

test('dragging over the bars, and Enter on one of them, look closer; chosen columns are kept', async () => {
  await using opened = await openDashboardPage(dashboard, { path: `/calls?${range}` })
  const { page } = opened
  const strip = page.getByRole('slider')
  await page.getByText(/^All, peak \d/).waitFor()
  await untilReady(page)
  const box = await strip.boundingBox()
  assert.ok(box !== null)
  // Twelve bars: from the third to the fourth.
  const xOf = (bar: number): number => box.x + (box.width * (bar + 0.5)) / 12
  await page.mouse.move(xOf(2), box.y + 20)
  await page.mouse.down()
  await page.mouse.move(xOf(3), box.y + 20, { steps: 4 })
  await page.mouse.up()
  const hour = (index: number): string =>
    new Date(endMs - (12 - index) * hourMs).toISOString().replace('.000Z', 'Z')
  // The browser tells of an address that a script sets only after the event that led to it.
  const untilRange = (fromHour: number, toHour: number): Promise<void> =>
    page.waitForURL(
      ({ searchParams: set }) => set.get('from') === hour(fromHour) && set.get('to') === hour(toHour),
    )
  await untilRange(2, 4)
  await page.goBack()
  await page.getByRole('heading', { name: 'Calls per hour' }).waitFor()
  await strip.focus()
  for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'Enter']) await strip.press(key)
  await untilRange(2, 3)

  await opened.button('Columns').click()
  await page.getByRole('checkbox', { name: 'Cached', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Cost' }).uncheck()
  await page.reload()
  await linksOf(page).first().waitFor()
  const heads = await page.getByRole('columnheader').allInnerTexts()
  assert.deepEqual([heads.includes('Cached'), heads.includes('Cost')], [true, false])

  // A heading sorts both ways, and the address keeps it.
  const total = page.getByRole('columnheader', { name: 'Total' })
  for (const [order, search] of [
    ['descending', /sort=duration$/],
    ['ascending', /sort=duration&rising=true$/],
  ] as const) {
    await total.getByRole('button').click()
    await total.and(page.locator(`[aria-sort="${order}"]`)).waitFor()
    assert.match(page.url(), search)
  }
  await untilReady(page)
  const link = linksOf(page).first()
  const { calls } = (await (
    await dashboard.ask('GET', `/api/query${new URL(page.url()).search}&limit=1`)
  ).json()) as { readonly calls: readonly CallJson[] }
  assert.equal(await link.getAttribute('data-id'), calls[0]?.id)

  // A table that goes on to the right shows it, until its end is seen.
  await page.setViewportSize({ width: 700, height: 800 })
  const scroller = page.locator('.calls-scroller')
  // Only the ground is compared.
  await scroller
    .locator('table')
    .evaluate((table: { style: { visibility: string } }) => (table.style.visibility = 'hidden'))
  const edge = async (): Promise<Buffer> => {
    const { x = 0, y = 0, width = 0 } = (await scroller.boundingBox()) ?? {}
    return page.screenshot({ clip: { x: x + width - 3, y: y + 100, width: 2, height: 2 } })
  }
  const goingOn = await edge()
  await scroller.evaluate((box: { scrollTo(x: number, y: number): void }) => box.scrollTo(9999, 0))
  assert.ok(!goingOn.equals(await edge()))
})

test('a page that does not come is asked for again by its reader alone', async () => {
  await using opened = await openDashboardPage(dashboard, { expected: / 503 / })
  const { page } = opened
  let asked = 0
  await page.route('**/api/query?*cursor=*', (route) => {
    asked++
    return route.fulfill({
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify({ error: { code: 'too_slow', message: 'The answer takes too long.' } }),
    })
  })
  await page.goto(`${dashboard.origin}/calls?${range}`)
  await linksOf(page).first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('End')
  const foot = page.getByRole('alert').filter({ hasText: 'The answer takes too long.' })
  await foot.waitFor()
  assert.equal(asked, 1)
  await page.unroute('**/api/query?*cursor=*')
  await foot.getByRole('button', { name: 'Try again' }).click()
  await summaryOf(page)
    .filter({ hasText: /^(200|300) of/ })
    .waitFor()
})

const nothingKept: CallPayloads = { request: null, answer: null, logging: false, reason: 'logging_off' }

const markdown = 'I look it up.\n\n# In `<b>`\n- **Lyon**\n```\na < b && <i>c</i>\n```'
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
const speakers = (
  elements: readonly { getAttribute(name: string): string | null }[],
): readonly (string | null)[] => elements.map((element) => element.getAttribute('data-speaker'))

/** The calls of the database, the newest first. */
async function callsOf(dashboard: DashboardProcess): Promise<readonly CallJson[]> {
  return ((await (await dashboard.ask('GET', '/api/query')).json()) as { calls: readonly CallJson[] }).calls
}

/** Has the dashboard say this of every call. The text is sent as it is: not all of JSON survives being read. */
async function keep(page: Page, payloads: CallPayloads | string): Promise<void> {
  const body = typeof payloads === 'string' ? payloads : JSON.stringify(payloads)
  await page.unrouteAll()
  await page.route('**/api/calls/*/payloads', (route) =>
    route.fulfill({ contentType: 'application/json', body }),
  )
}

test('the tabs of a call show what went over the wire, a streamed tool call put together', async () => {
  const dashboard = await dashboardOver('three')
  const [call] = await callsOf(dashboard)
  assert.ok(call !== undefined)
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const { id } = call
  const answer = sampleAnswer(id, { text: markdown })
  await keep(page, { request: sampleRequest(id), answer, logging: true, reason: null })
  await page.goto(`${dashboard.origin}/calls?call=${id}`)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Upstream' }).waitFor()

  await page.keyboard.press('2')
  await dialog.getByText('I look it up.').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tab'), 'chat')
  const chat = await dialog.innerText()
  for (const words of [
    'temperature 0.2',
    '1 tool',
    'Be brief.',
    'Image (png), 3 kB',
    'Calls get_weather call_1',
  ]) {
    assert.ok(chat.includes(words), words)
  }
  assert.ok(chat.includes('{\n  "city": "Lyon"\n}'), chat)
  // Roles, code and JSON are told apart; what looks like HTML is text.
  assert.deepEqual(await dialog.locator('.messages li').evaluateAll(speakers), [
    'System',
    'User',
    'Assistant',
  ])
  assert.equal(await dialog.locator('.said-code').innerText(), 'a < b && <i>c</i>')
  assert.equal(await dialog.locator('.said p > code').innerText(), '<b>')
  assert.equal(await dialog.locator('.said-item').innerText().then(oneLine), '• Lyon')
  assert.equal(await dialog.locator('.json-key').innerText(), '"city"')
  const reasoning = dialog.getByText('There is a tool for that.')
  assert.equal(await reasoning.isVisible(), false)
  await dialog.getByText('Reasoning, 25 characters').click()
  await reasoning.waitFor()

  await dialog.getByRole('button', { name: 'Response', exact: true }).click()
  await dialog.getByRole('region', { name: 'Events' }).getByText('data: [DONE]').waitFor()
  assert.ok((await dialog.innerText()).includes('I look it up.'))
  await page.keyboard.press('5')
  await dialog.getByText('Bearer hmac:3fa9c01b(51)').waitFor()
  assert.ok((await dialog.innerText()).includes('Keys are redacted'))
  // The tab stays when the list is gone through, and a link shows others the same.
  await page.reload()
  await dialog.getByText('Bearer hmac:3fa9c01b(51)').waitFor()

  const odd = '{"n": 1e400, "big": 12345678901234567890, "twice": 0.10, "twice": 2, "empty": {}}'
  const record = JSON.stringify(sampleRequest(id, { body: 0 })).replace('"body":0', `"body":${odd}`)
  await keep(page, `{"request":${record},"answer":null,"logging":true,"reason":null}`)
  await page.goto(`${dashboard.origin}/calls?call=${id}&tab=request`)
  const shown = dialog.getByRole('region', { name: 'Body' })
  await shown.getByText('1e400').waitFor()
  const pretty =
    '{\n  "n": 1e400,\n  "big": 12345678901234567890,\n  "twice": 0.10,\n  "twice": 2,\n  "empty": {}\n}'
  assert.equal(await shown.textContent(), pretty)
  assert.deepEqual(await shown.locator('.json-number').allTextContents(), [
    '1e400',
    '12345678901234567890',
    '0.10',
    '2',
  ])
  await dialog.getByRole('button', { name: 'Raw' }).click()
  assert.equal(await shown.textContent(), odd)
})

test('where nothing is kept the tabs say why, and lead to the switch', async () => {
  const dashboard = await dashboardOver('three')
  const calls = await callsOf(dashboard)
  const failed = calls.find(({ failure_code: code }) => code === 'upstream_reset')
  assert.ok(failed !== undefined)
  const path = `/calls?call=${failed.id}&tab=request`
  await using opened = await openDashboardPage(dashboard, { path })
  const { page } = opened
  const dialog = page.getByRole('dialog')
  // By the real dashboard: nothing was ever kept in its folder.
  await dialog.getByText('Payload capture was off').waitFor()
  await page.keyboard.press('6')
  await dialog.getByText('The upstream’s connection broke before the response was complete.').waitFor()
  await keep(page, { ...nothingKept, logging: true, reason: 'rotated_away' })
  await page.goto(`${dashboard.origin}/calls?call=${failed.id}&tab=chat`)
  await dialog.getByText('replaced by newer ones').waitFor()
  assert.equal(await dialog.getByRole('link', { name: 'Turn on capture' }).count(), 0)
  await keep(page, nothingKept)
  await page.reload()
  await dialog.getByRole('link', { name: 'Turn on capture' }).click()
  await page.getByRole('heading', { name: 'Payload capture is off' }).waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/live')
})

test('payloads that are hostile, or as large as they get, stay text', async () => {
  const dashboard = await dashboardOver('three')
  const [call] = await callsOf(dashboard)
  assert.ok(call !== undefined)
  const { id } = call
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const dialog = page.getByRole('dialog')
  const texts = naughtyStrings.filter((text) => text.trim() !== '')
  const everything = texts.join('\n')
  const hostile = {
    role: everything,
    content: everything,
    tool_calls: [{ id: everything, function: { name: everything, arguments: everything } }],
  }
  await keep(page, {
    request: sampleRequest(id, {
      path: everything,
      headers: { 'x-a': texts },
      body: { messages: [hostile, { role: 'user', content: 'x'.repeat(1_000_000) }], model: everything },
    }),
    answer: sampleAnswer(id, { body: everything, text: everything, reasoning: everything, tool_calls: [] }),
    logging: true,
    reason: null,
  })
  for (const tab of ['chat', 'request', 'response', 'headers']) {
    await page.goto(`${dashboard.origin}/calls?call=${id}&tab=${tab}`)
    await dialog.getByText('onerror').first().waitFor({ state: 'attached' })
    const strange = await dialog.evaluate((panel) =>
      [
        ...panel.querySelectorAll(
          'script, img, iframe, object, embed, link, style, base, form, video, [onerror], [onload]',
        ),
      ].map(({ tagName }) => tagName),
    )
    assert.deepEqual(strange, [], tab)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, tab)
  }
  await page.goto(`${dashboard.origin}/calls?call=${id}&tab=request`)
  const shown = dialog.getByRole('region', { name: 'Body' })
  await shown.waitFor()
  assert.ok(((await shown.textContent()) ?? '').length < 300_000)
  await dialog.getByRole('button', { name: /^Show all/ }).click()
  assert.ok(((await shown.textContent()) ?? '').length > 1_000_000)
  // So many colours would take the browser its time.
  assert.equal(await shown.locator('.json-string').count(), 0)
})

test('axe finds nothing in any tab, in light and dark', async () => {
  const dashboard = await dashboardOver('three')
  const failed = (await callsOf(dashboard)).find(({ failed }) => failed)
  assert.ok(failed !== undefined)
  const { id } = failed
  const options = { path: '/calls', bypassCSP: true, reducedMotion: 'reduce' } as const
  await using opened = await openDashboardPage(dashboard, options)
  const { page } = opened
  await keep(page, {
    request: sampleRequest(id),
    answer: sampleAnswer(id, { text: markdown }),
    logging: true,
    reason: null,
  })
  await page.goto(`${dashboard.origin}/calls?call=${id}`)
  const tabs = page.getByRole('group', { name: 'Call details' })
  const dialog = page.getByRole('dialog')
  for (const [name, shown] of [
    ['Chat', 'I look it up.'],
    ['Request', 'How is the weather in Lyon?'],
    ['Response', 'data: [DONE]'],
    ['Headers', 'Keys are redacted'],
    ['Error', 'The upstream’s connection broke'],
  ] as const) {
    await tabs.getByRole('button', { name }).click()
    await dialog.getByText(shown).first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await untilStill(page)
      assert.deepEqual(await violations(page), [], `${name} ${colorScheme}`)
    }
  }
})
