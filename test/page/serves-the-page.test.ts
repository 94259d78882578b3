import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { pagePaths } from '../../src/dashboard/http/page-assets.ts'
import { viewPaths } from '../../ui/data/page-address.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilTrue } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

const kilobyte = 1000
const assets = new URL('../../dist/ui/assets/', import.meta.url)

/** Of files as they are sent, in bytes. */
async function packedSize(names: Iterable<string>): Promise<number> {
  const files = await Promise.all([...names].map((name) => readFile(new URL(name, assets))))
  return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).byteLength, 0)
}

/** The files that the first view needs: those that the page names, and those that they cannot do without. */
async function firstFiles(): Promise<ReadonlySet<string>> {
  const html = await readFile(new URL('../index.html', assets), 'utf8')
  const names = new Set([...html.matchAll(/assets\/([\w.-]+\.(?:js|css))/g)].map(([, name = '']) => name))
  // A set also iterates over what is added on the way.
  for (const name of names) {
    const text = await readFile(new URL(name, assets), 'utf8')
    for (const [, needed = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
      names.add(needed)
  }
  return names
}

test('the first view is small, and so is each part that is loaded later', async () => {
  const first = await firstFiles()
  const endingWith = (ending: string): readonly string[] => [...first].filter((name) => name.endsWith(ending))
  assert.ok(endingWith('.js').length > 1 && endingWith('.css').length > 0)
  const [script, style] = [await packedSize(endingWith('.js')), await packedSize(endingWith('.css'))]
  assert.ok(script <= 50 * kilobyte, `${script} bytes of script`)
  assert.ok(style <= 10 * kilobyte, `${style} bytes of style`)
  const later = (await readdir(assets)).filter((name) => /\.(?:js|css)$/.test(name) && !first.has(name))
  assert.ok(later.length > 0)
  for (const name of later) assert.ok((await packedSize([name])) <= 16 * kilobyte, name)
})

test('the dashboard serves every view that the page has', () => {
  assert.deepEqual(pagePaths, Object.values(viewPaths))
})

test('a first load takes few requests and few bytes, a second one hardly any', async () => {
  await using folder = await makeTempDir()
  writePageData(folder.path, 'day')
  await using dashboard = await startDashboardProcess({ directory: folder.path })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
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
})

test('a link leads to what it shows', async () => {
  await using dashboard = await startDashboardProcess()
  const titles = {
    '/': 'Overview',
    '/calls': 'Calls',
    '/live': 'Live',
    '/costs': 'Costs',
    '/gateway': 'Gateway',
    '/alerts': 'Alerts',
    '/settings': 'Settings',
  } as const
  for (const [path, title] of Object.entries(titles)) {
    await using opened = await openDashboardPage(dashboard, { path })
    const { page } = opened
    await untilTrue(page, `document.title === '${title} · tokenweir'`)
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title)
    const current = page.getByRole('navigation', { name: 'Views' }).locator('[aria-current=page]')
    assert.equal(await current.textContent(), title)
  }
})
