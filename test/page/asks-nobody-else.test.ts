import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, viewPaths } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

const built = new URL('../../dist/ui/', import.meta.url)

test('no request leaves the dashboard in any view, and the console stays silent', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'incident')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  const origins = new Set<string>()
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  for (const path of viewPaths) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
  }
  // By its links as well, without loading the page anew.
  for (const name of ['Calls', 'Live', 'Gateway', 'Overview']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    await untilReady(page)
  }
  // The clipboard and a page that is left touch nobody either.
  await page.goto('about:blank')
  assert.deepEqual([...origins], [dashboard.origin])
})

test('what is built names no other place', async () => {
  const names = (await readdir(built, { recursive: true })).filter((name) =>
    /\.(?:html|js|css|svg)$/.test(name),
  )
  assert.ok(names.length > 3)
  for (const name of names) {
    const text = await readFile(new URL(name, built), 'utf8')
    const places = [...text.matchAll(/\b(?:https?|wss?):\/\/[\w.-]+/g)].map(([place]) => place)
    // Names of XML's languages, which are never asked for.
    const asked = places.filter((place) => place !== 'http://www.w3.org')
    assert.deepEqual(asked, [], name)
  }
})
