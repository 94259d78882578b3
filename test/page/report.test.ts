/** The report: one file that opens from a disk, asks nobody, and says what the dashboard says. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Overview } from '../../src/api/overview.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { chatCall } from '../store/sample-call.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'

const hostile = '</script><img src=x onerror="document.title=1"><!--'

function addHostileCall(directory: string, nowMs: number): void {
  const database = openForWriting(pageDatabase(directory))
  const words = new Dictionary()
  const batch = new BatchEncoder().encode([
    { ...chatCall((nowMs - 60_000) * idsPerMs), model: hostile, client: hostile, durationMs: 900_000 },
  ])
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  database.close()
}

test('it is saved from the Overview, opens without a network, and tells what the dashboard tells', async () => {
  await using dir = await makeTempDir()
  const nowMs = Date.now()
  writePageData(dir.path, 'incident', nowMs)
  addHostileCall(dir.path, nowMs)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, {
    path: '/?range=6h&call_type=chat',
    expected: /net::ERR_/,
  })
  const { page } = opened
  await untilReady(page)
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Report' }).click()
  const download = await downloading
  assert.match(download.suggestedFilename(), /^tokenweir-report-[\d-]+-to-[\d-]+\.html$/)

  const path = new URL(page.url())
  const from = new Date(nowMs - 6 * 3_600_000).toISOString()
  const query = path.search.replace('?range=6h&', `?from=${from}&`)
  const answer = await dashboard.ask('GET', `/api/report${query}`)
  const html = await answer.text()
  assert.ok(!html.includes(hostile) && html.length < 1_000_000, `${html.length} characters`)
  const file = dir.file('report.html')
  writeFileSync(file, html)
  const { totals } = (await (await dashboard.ask('GET', `/api/overview${query}`)).json()) as Overview

  const alone = await page.context().newPage()
  const asked: string[] = []
  const told: string[] = []
  alone.on('request', (request) => asked.push(request.url()))
  alone.on('console', (message) => told.push(message.text()))
  alone.on('pageerror', (error) => told.push(error.message))
  await alone.context().setOffline(true)
  await alone.goto(pathToFileURL(file).href)
  await alone.getByText('Calls: chat', { exact: true }).waitFor()
  const shown = async (words: string): Promise<string> => {
    const card = alone.getByRole('list', { name: 'Figures' }).getByRole('listitem').filter({ hasText: words })
    return (await card.first().locator('.figure-value').innerText()).replaceAll(/\s/g, '')
  }
  assert.equal(await shown('Requests'), totals.calls.toLocaleString('en'))
  await alone.getByRole('table', { name: 'Calls by model' }).getByText(hostile).first().waitFor()
  await alone.getByRole('slider', { name: 'Latency', exact: true }).focus()
  await alone.keyboard.press('End')
  assert.ok(await alone.getByRole('slider', { name: 'Latency', exact: true }).getAttribute('aria-valuetext'))
  await alone.getByRole('button', { name: 'Failed', exact: true }).first().click()
  assert.equal(await alone.getByRole('link').count(), 0)
  await alone.setViewportSize({ width: 390, height: 800 })
  await untilStill(alone)
  assert.equal(await alone.evaluate('document.documentElement.scrollWidth'), 390)
  assert.equal(await alone.title(), 'tokenweir report')
  assert.deepEqual([asked, told], [[pathToFileURL(file).href], []])
})
