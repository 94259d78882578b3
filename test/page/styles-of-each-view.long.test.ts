/** Whatever is opened first has all its styles, and none of another view changes it. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, viewPaths } from './dashboard-page.ts'
import { writeRuns } from './session-data.ts'

const assets = new URL('../../dist/ui/assets/', import.meta.url)
const sheets = readdirSync(assets)
  .filter((name) => name.endsWith('.css'))
  .map((name) => `/assets/${name}`)

/** Loads the styles of all other views, and answers what that changed in elements that stand there already. */
const changedByOtherSheets = `(async () => {
  const names = [
    'display', 'position', 'float', 'color', 'backgroundColor', 'fontSize', 'fontWeight', 'lineHeight', 'textAlign',
    'whiteSpace', 'textTransform', 'textDecorationLine', 'listStyleType', 'paddingTop', 'paddingRight',
    'paddingBottom', 'paddingLeft', 'borderTopWidth', 'borderBottomWidth', 'borderTopColor', 'borderRadius', 'minHeight',
    'maxWidth', 'columnGap', 'rowGap', 'overflowX', 'overflowY', 'opacity', 'visibility', 'zIndex', 'boxShadow',
  ]
  const look = (element) => {
    const style = getComputedStyle(element)
    return names.map((name) => name + ': ' + style[name])
  }
  const before = [...document.querySelectorAll('body *')].map((element) => [element, look(element)])
  const loaded = new Set([...document.styleSheets].map(({ href }) => new URL(href).pathname))
  const others = ${JSON.stringify(sheets)}.filter((href) => !loaded.has(href))
  await Promise.all(others.map((href) => new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href })
    link.onload = resolve
    link.onerror = () => reject(new Error(href))
    document.head.append(link)
  })))
  return before.flatMap(([element, was]) => {
    const is = look(element)
    const changed = element.isConnected ? was.flatMap((one, at) => one === is[at] ? [] : [one + ' became ' + is[at]]) : []
    return changed.length === 0 ? [] : [element.tagName + '.' + element.getAttribute('class') + ' ' + changed.join('; ')]
  }).slice(0, 5)
})()`

test('each view has all its styles when it is opened first', async (context) => {
  await using folder = await makeTempDir()
  writeRuns(folder.path, [{ session: 'twenty', calls: 20, agoMs: 9_000_000 }])
  await using dashboard = await startDashboardProcess({ directory: folder.path })
  for (const path of [...viewPaths, '/sessions?session=twenty']) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await context.test(`${path}, ${width} px wide`, async () => {
        const options = {
          viewport: { width, height },
          bypassCSP: true,
          reducedMotion: 'reduce',
          path,
        } as const
        await using opened = await openDashboardPage(dashboard, options)
        await untilReady(opened.page)
        assert.deepEqual(await opened.page.evaluate<string[]>(changedByOtherSheets), [])
      })
    }
  }
})
