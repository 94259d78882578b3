/** The Sessions view in a real browser: the list, one session as a line of time, and calls that come while it is read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEvents, untilCallsAreTold } from '../dashboard/event-reader.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilReady, untilStill, untilTrue } from './dashboard-page.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const hostile = '"] <b>run</b> \\ ’'
const old = Array.from({ length: 120 }, (_, at) => ({
  session: `old-${at}`,
  calls: 1,
  agoMs: 80_000_000 - at * 1000,
}))
const dashboard = await shareDashboard((folder) =>
  writeRuns(folder, [
    ...old,
    { session: 'three-hundred', client: 'codex', calls: 300, agoMs: 20_000_000 },
    { session: 'twenty', calls: 20, agoMs: 9_000_000 },
    { session: hostile, client: 'opencode', calls: 2, agoMs: 600_000, isCacheTold: false },
  ]),
)

const wide = { viewport: { width: 1440, height: 900 }, bypassCSP: true } as const

test('times of another year have room in every list', async () => {
  const agoMs = 400 * 86_400_000
  const lastYear = await shareDashboard((folder) => writeRuns(folder, [{ session: 'old', calls: 20, agoMs }]))
  const [from, to] = [1, -1].map((days) => new Date(Date.now() - agoMs - days * 86_400_000).toISOString())
  const time = `from=${from}&to=${to}`
  await using opened = await openDashboardPage(lastYear, wide)
  const { page } = opened
  for (const path of ['/', '/calls', '/sessions']) {
    await page.goto(`${lastYear.origin}${path}?${time}`)
    await untilReady(page)
    for (const width of [1920, 1440, 1100, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await untilStill(page)
      const cells = `[...document.querySelectorAll('tbody tr > *')].filter(({ innerText }) =>
        / \\d{4} \\d\\d:\\d\\d:\\d\\d/.test(innerText))`
      await untilTrue(page, `${cells}.length > 0`)
      const cut = `${cells}.filter((cell) => cell.scrollWidth > cell.clientWidth).map(({ innerText }) => innerText)`
      assert.deepEqual(await page.evaluate<string[]>(cut), [], `${path}, ${width} px wide`)
    }
  }
})

test('sessions are listed, the last one first, found by name, and reached by keys', async () => {
  await using opened = await openDashboardPage(dashboard, { ...wide, path: '/sessions' })
  const { page } = opened
  const rows = page.getByRole('table', { name: 'Sessions', exact: true }).locator('tbody tr:has([data-id])')
  await rows.first().getByText(hostile, { exact: true }).waitFor()
  assert.match(
    await rows.nth(1).innerText(),
    /^twenty\s+claude-code\s+claude-sonnet-5, claude-haiku-5\s[^$]*\s20, 1 failed\s[^$]*\$0\.28\s/,
  )
  assert.deepEqual(await violations(page), [])
  // The next page comes as the end of the first comes near, and few rows are there at a time.
  await page.evaluate('document.querySelector(".sessions-scroller").scrollTo(0, 99999)')
  await page.getByText('123 sessions').waitFor()
  assert.ok((await rows.count()) < 60)
  await page.getByRole('searchbox', { name: 'Find session' }).fill('hundr')
  await untilTrue(page, 'document.querySelectorAll(".sessions-scroller [data-id]").length === 1')
  assert.equal(new URL(page.url()).search, '?text=hundr')
  await page.getByRole('searchbox').fill('nobody’s')
  await page.getByRole('heading', { name: 'No sessions match' }).waitFor()
  await page.getByRole('link', { name: 'Clear search and filters' }).click()
  await rows.first().waitFor()
  await page.getByRole('heading', { name: 'All sessions' }).waitFor({ state: 'attached' })
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'twenty', exact: true }).waitFor()
  assert.equal(new URL(page.url()).search, '?session=twenty')
  await page.keyboard.press('u')
  await rows.first().waitFor()
  // A name that is no good in a selector, nor as markup.
  await rows.first().click()
  await page.getByRole('heading', { name: hostile, exact: true }).waitFor()
  // Its upstream says nothing of a cache.
  await untilReady(page)
  assert.match(await page.locator('.session-facts').innerText(), /– cached[^]*Cache breaks\s+–$/)
})

test('headings sort the sessions both ways, the address keeps it, and a narrow window has a list of orders', async () => {
  await using opened = await openDashboardPage(dashboard, { ...wide, path: '/sessions' })
  const { page } = opened
  const first = page
    .getByRole('table', { name: 'Sessions', exact: true })
    .locator('tbody tr:has([data-id])')
    .first()
  const heading = (name: string) => page.getByRole('columnheader', { name })
  await heading('Cost').getByRole('button').click()
  await heading('Cost').and(page.locator('[aria-sort="descending"]')).waitFor()
  await first.getByText('three-hundred', { exact: true }).waitFor()
  await page.getByText('100 sessions, most expensive first').waitFor()
  assert.equal(new URL(page.url()).search, '?order=cost')
  await heading('Cost').getByRole('button').click()
  await heading('Cost').and(page.locator('[aria-sort="ascending"]')).waitFor()
  await first.getByText(/^old-/).waitFor()
  assert.equal(new URL(page.url()).search, '?order=cost&rising=true')
  // A session shows its own calls, and its link back leads to the same order.
  await first.click()
  await page.locator('.session-title').getByRole('link', { name: 'Sessions' }).click()
  await heading('Cost').and(page.locator('[aria-sort="ascending"]')).waitFor()
  assert.equal(new URL(page.url()).search, '?order=cost&rising=true')
  await heading('Duration').getByRole('button').click()
  await first.getByText('three-hundred', { exact: true }).waitFor()
  assert.deepEqual(await violations(page), [])
  await page.goBack()
  await first.getByText(/^old-/).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Most calls')
  await first.getByText('three-hundred', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).search, '?order=calls')
  assert.deepEqual(await violations(page), [])
})

test('rows are as high as their text: letters of twice the size make them higher, and none covers another', async () => {
  await using opened = await openDashboardPage(dashboard, { ...wide, path: '/sessions' })
  const { page } = opened
  await page.locator('tbody tr:has([data-id])').nth(5).waitFor()
  const rows = `[...document.querySelectorAll('.sessions-scroller tr:has([data-id])')].map((row) => row.getBoundingClientRect())`
  const heightPx = await page.evaluate<number>(`${rows}[0].height`)
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
  await untilTrue(page, `${rows}[0].height > ${heightPx * 1.5}`)
  await untilTrue(page, `${rows}.every(({ top }, at, all) => at === 0 || top >= all[at - 1].bottom - 1)`)
})

test('later pages hold after a renewal and after a look at another list', async () => {
  await using own = await makeTempDir()
  const runs = (name: string, count: number, agoMs: number) =>
    Array.from({ length: count }, (_, at) => ({
      session: `${name}-${at}`,
      calls: 1,
      agoMs: agoMs - at * 1000,
    }))
  writeRuns(own.path, runs('old', 120, 8_000_000))
  await using dashboard = await startDashboardProcess({ directory: own.path })
  await using opened = await openDashboardPage(dashboard, { ...wide, path: '/sessions' })
  const { page } = opened
  const toTheEnd = (): Promise<unknown> =>
    page.evaluate('document.querySelector(".sessions-scroller").scrollTo(0, 99999)')
  const search = page.getByRole('searchbox', { name: 'Find session' })
  await page.getByText('Last 100 sessions').waitFor()

  // The second page is still under way when its list is left.
  const held = Promise.withResolvers<undefined>()
  await page.route(/cursor=/, async (route) => {
    await held.promise
    await route.continue().catch(() => undefined)
  })
  const asked = page.waitForRequest(/cursor=/)
  await toTheEnd()
  await asked
  await search.fill('nobody’s')
  await page.getByRole('heading', { name: 'No sessions match' }).waitFor()
  held.resolve(undefined)
  await search.fill('')
  await page.getByText('Last 100 sessions').waitFor()
  await toTheEnd()
  await page.getByText('120 sessions').waitFor()

  // Five that are new push as many off the first page.
  writeRuns(own.path, runs('new', 5, 60_000))
  await page.getByRole('button', { name: 'Refresh' }).click()
  // Whoever reads the end of the list sees what was there, and nothing moves.
  await page.getByRole('button', { name: 'Updated' }).waitFor()
  await page.getByText('120 sessions').waitFor()
  await page.getByRole('button', { name: 'Updated' }).click()
  await page.getByText('125 sessions').waitFor()
})

test('one session tells what it did: bars, tools at the gaps, what failed and where its cache broke', async () => {
  const path = '/sessions?session=twenty'
  await using opened = await openDashboardPage(dashboard, { ...wide, path })
  const { page } = opened
  await untilReady(page)
  assert.equal(await page.locator('.timeline-bar').count(), 20)
  assert.equal(await page.locator('.timeline-bar.is-failed').count(), 1)
  assert.equal(await page.locator('.timeline-signs .sign-failed').count(), 1)
  assert.match(
    (await page.locator('.timeline-signs .sign-break').getAttribute('title')) ?? '',
    /^Cache break: 0 prompt tokens/,
  )
  // Three calls at once have three lanes.
  const lanes = 'new Set([...document.querySelectorAll(".timeline-bar")].map(({ style }) => style.top)).size'
  assert.equal(await page.evaluate(lanes), 3)
  const idle = page.locator('.timeline-gap.is-cut')
  assert.equal(await idle.count(), 1)
  assert.match(await idle.innerText(), /^Read\s+1\sh \(shortened\)$/)
  assert.deepEqual(await violations(page), [])
  // Its lines tell the figures of the call that is pointed at.
  await page.locator('.timeline-bar').nth(1).hover()
  await untilTrue(
    page,
    '/^Prompt tokens of claude-sonnet-5, up to 27,\\d{3}6,600$/.test(document.querySelector(".timeline-line").innerText)',
  )
  // A drag zooms to what it goes over, though it begins on a bar, and a double click leads back.
  const third = page.getByTitle((await page.locator('.timeline-bar').nth(2).getAttribute('title'))!, {
    exact: true,
  })
  const from = (await third.boundingBox())!
  await page.mouse.move(from.x + 1, from.y + 8)
  await page.mouse.down()
  await page.mouse.move(from.x + from.width / 2, from.y + 8)
  await page.mouse.move(from.x + from.width * 2, from.y + 8)
  await page.mouse.up()
  await untilTrue(page, '!/All/.test(document.querySelector(".timeline-zoom").innerText)')
  const near = (await third.boundingBox())!
  assert.ok(near.width > 600 && near.width < 800 && Math.abs(near.x - 60) < 60, JSON.stringify(near))
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.locator('.timeline-line').last().dblclick()
  await page.locator('.timeline-zoom').getByText('All').waitFor()
  await page.locator('.timeline-bar.is-failed').click()
  const panel = page.getByRole('dialog')
  await panel.getByText('529', { exact: false }).first().waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('row').nth(3).click()
  await panel.waitFor()
})

test('three hundred calls are fewer bars, which a press takes apart; on a phone nothing is wider than the screen', async () => {
  const path = '/sessions?session=three-hundred'
  await using opened = await openDashboardPage(dashboard, {
    ...wide,
    path,
    colorScheme: 'dark',
    viewport: { width: 390, height: 844 },
  })
  const { page } = opened
  await untilReady(page)
  const bars = page.locator('.timeline-bar')
  assert.ok((await bars.count()) < 150)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  assert.deepEqual(await violations(page), [])
  await page.locator('.timeline-bar.is-crowd').nth(5).click()
  await page.getByText('4×').waitFor()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  for (let zoom = 4; zoom < 64; zoom *= 2) await page.getByRole('button', { name: 'Zoom in' }).click()
  await untilTrue(page, 'document.querySelector(".timeline-bar.is-crowd") === null')
  assert.ok((await bars.count()) < 150)
})

test('a session that runs goes on while it is looked at, and its list does not move under the pointer', async () => {
  await using upstream = await startSimulatedUpstream()
  await using own = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  await own.ask('POST', '/api/proxy/start')
  const { port } = await own.status()
  const call = async (session: string | null): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(session === null ? {} : { 'x-tokenweir-session': session }),
      },
      body: JSON.stringify({ model: 'a-model', messages: [] }),
    })
    await response.text()
  }
  using reader = await openEvents(Number(new URL(own.origin).port), 'calls')
  await untilCallsAreTold(reader, () => call(null))
  await using opened = await openDashboardPage(own, { ...wide, path: '/sessions' })
  const { page } = opened
  await page.getByText('x-tokenweir-session: ').waitFor()
  await call('first')
  const first = page.getByRole('row', { name: /^first .* 1 / })
  await first.hover()
  const before = await first.boundingBox()
  await call('second')
  await page.getByRole('button', { name: 'Updated' }).waitFor()
  assert.deepEqual(await first.boundingBox(), before)
  await page.mouse.move(0, 0)
  await page.getByRole('row', { name: /^second / }).waitFor()
  assert.ok((await first.boundingBox())!.y > before!.y)
  await first.click()
  await untilReady(page)
  await untilStill(page)
  assert.equal(await page.locator('.timeline-bar').count(), 1)
  await call('first')
  await untilTrue(page, 'document.querySelectorAll(".timeline-bar").length === 2')
  await untilTrue(page, '/Calls\\s+2/.test(document.querySelector(".session-facts").innerText)')
})
