import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { pagePaths } from '../../src/dashboard/page-paths.ts'
import { viewPaths } from '../../ui/address/page-address.ts'
import { startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

const kilobyte = 1000
const built = new URL('../../dist/ui/', import.meta.url)

test('the page is small, and what its first view does not need comes later', async () => {
  const packedSize = async (names: readonly string[]): Promise<number> => {
    assert.ok(names.length > 0)
    const files = await Promise.all(names.map((name) => readFile(new URL(name, built))))
    return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).byteLength, 0)
  }
  const all = (await readdir(new URL('assets/', built))).map((name) => `assets/${name}`)
  // A script that another one imports at once would be named in neither page, and none is.
  const first = new Set<string>()
  for (const name of ['index.html', 'sign-in.html']) {
    const html = await readFile(new URL(name, built), 'utf8')
    for (const [, path = ''] of html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g))
      first.add(path)
  }
  const later = all.filter((name) => /\.(?:js|css)$/.test(name) && !first.has(name))
  const sizeOf = (names: Iterable<string>, ending: string): Promise<number> =>
    packedSize([...names].filter((name) => name.endsWith(ending)))
  const [script, style] = [await sizeOf(first, '.js'), await sizeOf(first, '.css')]
  assert.ok(script <= 60 * kilobyte, `${script} bytes of script`)
  assert.ok(script + style <= 68 * kilobyte, `${script} bytes of script and ${style} of style`)
  assert.ok((await packedSize(later)) <= 40 * kilobyte, later.join(' '))
})

test('the dashboard serves every view that the page has', () => {
  assert.deepEqual(pagePaths, Object.values(viewPaths))
})

test('a first load takes few requests and few bytes, a second one hardly any', async () => {
  await using folder = await makeTempDir()
  writePageData(folder.path, 'day')
  await using dashboard = await startDashboardProcess({ directory: folder.path })
  await using browser = await startBrowser()
  await using opened = await openDashboardPage(browser, dashboard.origin, { path: '/gateway' })
  const { page } = opened
  const fresh = await page.context().newPage()
  const client = await page.context().newCDPSession(fresh)
  await client.send('Network.clearBrowserCache')

  const responses: Response[] = []
  fresh.on('response', (response) => responses.push(response))
  await fresh.goto(`${dashboard.origin}/`)
  await fresh.getByText(/^Updated /).waitFor()
  await fresh.getByText('Stopped').first().waitFor()
  const paths = responses.map((response) => new URL(response.url()).pathname)
  assert.ok(responses.length <= 7, paths.join(' '))
  let bytes = 0
  for (const response of responses) {
    const { pathname } = new URL(response.url())
    if (pathname === '/api/events') continue
    const { responseBodySize, responseHeadersSize } = await response.request().sizes()
    bytes += responseBodySize + responseHeadersSize
    if (!pathname.startsWith('/assets/')) continue
    assert.equal(response.headers()['cache-control'], 'public, max-age=31536000, immutable', pathname)
  }
  assert.ok(bytes > 10 * kilobyte && bytes <= 90 * kilobyte, `${bytes} bytes`)

  responses.length = 0
  await fresh.reload()
  await fresh.getByText(/^Updated /).waitFor()
  const loaded = responses.filter((response) => new URL(response.url()).pathname === '/')
  assert.deepEqual(
    loaded.map((response) => response.status()),
    [200],
  )
  const cached = await fresh.evaluate<number[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).map(({ transferSize }) => transferSize)`,
  )
  assert.ok(cached.length >= 3 && cached.every((size) => size === 0), JSON.stringify(cached))
  assert.deepEqual(opened.problems, [])
})

test('a link leads to what it shows', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  const titles = { '/': 'Overview', '/calls': 'Calls', '/costs': 'Costs', '/gateway': 'Gateway' } as const
  for (const [path, title] of Object.entries(titles)) {
    await using opened = await openDashboardPage(browser, dashboard.origin, { path })
    const { page } = opened
    await page.waitForFunction(`document.title === '${title} · tokenweir'`)
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title)
    const current = page.getByRole('navigation', { name: 'Views' }).locator('[aria-current=page]')
    assert.equal(await current.textContent(), title)
    assert.deepEqual(opened.problems, [], path)
  }
})
