import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

interface Group {
  readonly key: string
  readonly calls: number
  readonly duration_ms: { readonly n: number; readonly p95: number }
}

/** The same instant gives the same calls, and no call leaves the range meanwhile. */
const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const [from, to] = [nowMs - 86_400_000, nowMs].map((ms) => new Date(ms).toISOString().replace('.000Z', 'Z'))
const day = `from=${from}&to=${to}`

test('the slowest model is two presses away; its line is drawn, spoken, and leads to its calls', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'day', nowMs)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { path: `/?${day}` })
  const { page } = opened
  await untilReady(page)
  await page.getByRole('link', { name: 'Compare' }).click()
  await untilReady(page)
  assert.equal(new URL(page.url()).pathname, '/compare')

  const answer = await dashboard.ask('GET', `/api/query?group_by=model&${day}`)
  const { groups } = (await answer.json()) as { groups: readonly Group[] }
  const enough = groups.filter(({ duration_ms: told }) => told.n >= 25)
  const [slowest] = enough.toSorted((one, other) => other.duration_ms.p95 - one.duration_ms.p95)
  assert.ok(slowest !== undefined)

  const table = page.getByRole('table', { name: 'Calls by model' })
  await table.getByRole('button', { name: 'Latency p95' }).click()
  const first = table.getByRole('row').nth(1)
  const last = await table.getByRole('row').last().innerText()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)
  await table.getByRole('button', { name: 'Latency p95' }).click()
  await table
    .getByRole('columnheader', { name: 'Latency p95' })
    .and(page.locator('[aria-sort="ascending"]'))
    .waitFor()
  assert.match(page.url(), /&order=latency_p95&rising=true$/)
  assert.notEqual(await first.getByRole('link').innerText(), slowest.key)
  // What is not known is last either way.
  assert.equal(await table.getByRole('row').last().innerText(), last)
  await table.getByRole('button', { name: 'Latency p95' }).click()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)

  // A line more, or less.
  const lines = page.locator('.series-plot .drawn-dots')
  const before = await lines.count()
  const box = first.getByRole('checkbox')
  const isDrawn = await box.isChecked()
  await box.setChecked(!isDrawn)
  assert.equal(await lines.count(), isDrawn ? before - 1 : before + 1)
  await box.setChecked(true)
  const plot = page.getByRole('slider')
  assert.match(
    (await plot.getAttribute('aria-valuetext')) ?? '',
    new RegExp(`^p50: .*${slowest.key} [\\d.]+\\s(ms|s)`),
  )
  await plot.focus()
  await page.keyboard.press('End')
  assert.match((await plot.getAttribute('aria-valuetext')) ?? '', /^p99: /)
  await page.getByRole('group', { name: 'Measure' }).getByText('Tokens/s').click()
  await page.getByRole('slider', { name: 'Tokens/s by percentile' }).waitFor()

  // A long name makes the page no wider.
  const isWide = `document.querySelector('.chart-legend .cut').textContent = 'x'.repeat(300);
    document.documentElement.scrollWidth > innerWidth`
  assert.equal(await page.evaluate(isWide), false)

  // Whoever gets the link sees the same.
  const drawn = await lines.count()
  await page.reload()
  await page.getByRole('slider', { name: 'Tokens/s by percentile' }).waitFor()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)
  assert.equal(await lines.count(), drawn)

  await first.getByRole('link').click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  assert.equal(new URL(page.url()).search, `?${day}&model=${slowest.key}`)
  await page.goBack()
  await page.getByRole('button', { name: 'Client' }).click()
  await page.getByRole('table', { name: 'Calls by client' }).getByRole('rowheader').first().waitFor()
  assert.equal(new URL(page.url()).search, `?${day}&by=client&measure=output_tokens_per_s&order=latency_p95`)
})
