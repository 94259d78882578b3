import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { addPast } from '../../bench/generate/add-past.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage } from './dashboard-page.ts'
import { pageDatabase } from './page-data.ts'

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
